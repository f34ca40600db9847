"""The tokenizer of characters survives saving, and loses nothing of its alphabet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transformers import AutoTokenizer

from trainer.character_tokenizer import PRINTABLE_ASCII, make_character_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "<thinking>1+2=3\n 4</thinking> \\boxed{34}"


def test_a_token_is_a_character() -> None:
    tokenizer = make_character_tokenizer()
    ids = tokenizer(TEXT)["input_ids"]
    assert len(ids) == len(TEXT)
    assert tokenizer.decode(ids) == TEXT
    assert tokenizer.decode(tokenizer(PRINTABLE_ASCII)["input_ids"]) == PRINTABLE_ASCII


def test_it_saves_and_loads(tmp_path: Path) -> None:
    make_character_tokenizer("12+=").save_pretrained(tmp_path)
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    assert loaded.decode(loaded("1+1=2")["input_ids"]) == "1+1=2"
    assert (loaded.pad_token_id, loaded.eos_token_id) == (0, 1)
    assert loaded.padding_side == "left"


def test_special_tokens_are_skipped_and_strangers_unknown() -> None:
    tokenizer = make_character_tokenizer("ab")
    ids = tokenizer("aé")["input_ids"]
    assert ids[1] == tokenizer.unk_token_id
    assert tokenizer.decode([ids[0], tokenizer.eos_token_id], skip_special_tokens=True) == "a"
