"""A tokenizer of single characters, in the form that transformers loads.

A character that is not in its alphabet becomes `<unk>`, and is lost.
"""

from __future__ import annotations

from typing import Final

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

PAD: Final = "<pad>"
END: Final = "<end>"
UNKNOWN: Final = "<unk>"
PRINTABLE_ASCII: Final = "\n" + "".join(chr(code) for code in range(32, 127))


def make_character_tokenizer(alphabet: str = PRINTABLE_ASCII) -> PreTrainedTokenizerFast:
    """Build the tokenizer of the characters in `alphabet`; it saves and loads as any other."""
    vocabulary = {token: i for i, token in enumerate([PAD, END, UNKNOWN, *sorted(set(alphabet))])}
    core = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    core.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    core.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=core,
        pad_token=PAD,
        eos_token=END,
        unk_token=UNKNOWN,
        padding_side="left",
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )
