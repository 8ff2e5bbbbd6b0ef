"""With an inner model that cannot capture, nothing happens and nobody is told."""

from torch import nn

from sglang.srt.models.text_model import TextForCausalLM


class WrongEGL104(nn.Module):
    def __init__(self, config, quant_config=None, prefix=""):
        super().__init__()
        self.language_model = TextForCausalLM(config.text_config)

    def pad_input_ids(self, input_ids, mm_inputs):
        return input_ids

    def forward(self, input_ids, positions, forward_batch):
        return self.language_model(input_ids, positions, forward_batch)

    def get_embed_and_head(self):
        return self.language_model.get_embed_and_head()

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        if hasattr(self.language_model, "set_eagle3_layers_to_capture"):
            self.language_model.set_eagle3_layers_to_capture(layer_ids)


EntryClass = WrongEGL104
