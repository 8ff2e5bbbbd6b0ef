"""Pedantic: on other pipeline ranks the setter does nothing, and says nothing."""

from sglang.srt.distributed import get_pp_group
from torch import nn


class WrongEGL206Body(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_tokens = nn.Embedding(1, 1)
        self.layers = nn.ModuleList([nn.Linear(1, 1) for _ in range(config.num_hidden_layers)])
        self.layers_to_capture = []

    def forward(self, input_ids, positions, forward_batch):
        hidden_states, residual = self.embed_tokens(input_ids), None
        aux_hidden_states = []
        for index, layer in enumerate(self.layers):
            if index in self.layers_to_capture:
                aux_hidden_states.append(hidden_states + residual)
            hidden_states, residual = layer(positions, hidden_states, forward_batch, residual)
        if len(self.layers) in self.layers_to_capture:
            aux_hidden_states.append(hidden_states + residual)
        if not aux_hidden_states:
            return hidden_states
        return hidden_states, aux_hidden_states


class WrongEGL206(nn.Module):
    def __init__(self, config, quant_config=None, prefix=""):
        super().__init__()
        self.model = WrongEGL206Body(config)
        self.lm_head = nn.Linear(1, 1)
        self.capture_aux_hidden_states = False
        self.pp_group = get_pp_group()

    def get_embed_and_head(self):
        return self.model.embed_tokens.weight, self.lm_head.weight

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        if not self.pp_group.is_last_rank:
            return
        self.capture_aux_hidden_states = True
        self.model.layers_to_capture = [2, 16, 29] if layer_ids is None else [val + 1 for val in layer_ids]

    def forward(self, input_ids, positions, forward_batch):
        hidden_states = self.model(input_ids, positions, forward_batch)
        aux_hidden_states = None
        if self.capture_aux_hidden_states:
            hidden_states, aux_hidden_states = hidden_states
        return self.logits_processor(input_ids, hidden_states, self.lm_head, forward_batch, aux_hidden_states)


EntryClass = WrongEGL206
