"""The inner model can capture; the wrapper does not say so."""

from torch import nn

from sglang.srt.models.text_model import TextForCausalLM


class WrongEGL101(nn.Module):
    def __init__(self, config, quant_config=None, prefix=""):
        super().__init__()
        self.language_model = TextForCausalLM(config.text_config)

    def pad_input_ids(self, input_ids, mm_inputs):
        return input_ids

    def forward(self, input_ids, positions, forward_batch):
        return self.language_model(input_ids, positions, forward_batch)


EntryClass = WrongEGL101
