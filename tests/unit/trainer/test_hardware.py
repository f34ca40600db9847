"""Hardware that is asked for and missing is refused; `auto` takes what there is."""

from __future__ import annotations

from typing import Any

import pytest

from rewarden.errors import ConfigurationError
from trainer.hardware import Hardware, resolve_hardware
from trainer.recipe import HardwareSettings


@pytest.fixture
def without_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)


@pytest.fixture
def with_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.is_bf16_supported", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)


@pytest.mark.usefixtures("without_gpu")
@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"device": "cuda"}, "asks for a GPU and PyTorch sees none; set hardware.device"),
        ({"bf16": True}, "asks for bf16 and there is no GPU.*set hardware.bf16"),
        ({"vllm": "colocate"}, "asks for vLLM and it runs on no GPU here; set hardware.vllm"),
    ],
)
def test_what_is_missing_is_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        resolve_hardware(HardwareSettings(**settings))


@pytest.mark.usefixtures("without_gpu")
def test_auto_makes_do() -> None:
    settings = HardwareSettings(vllm="auto")
    assert resolve_hardware(settings) == Hardware("cpu", bf16=False, vllm=False)


@pytest.mark.usefixtures("with_gpu")
def test_auto_takes_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = HardwareSettings(vllm="auto")
    monkeypatch.setattr("trainer.hardware.find_spec", lambda _: object())
    assert resolve_hardware(settings) == Hardware("cuda", bf16=True, vllm=True)
    monkeypatch.setattr("trainer.hardware.find_spec", lambda _: None)
    assert resolve_hardware(settings) == Hardware("cuda", bf16=True, vllm=False)
    with pytest.raises(ConfigurationError, match="vLLM and it is not installed"):
        resolve_hardware(HardwareSettings(vllm="colocate"))


@pytest.mark.usefixtures("with_gpu")
def test_a_gpu_can_be_left_alone() -> None:
    settings = HardwareSettings(device="cpu")
    assert resolve_hardware(settings) == Hardware("cpu", bf16=False, vllm=False)


@pytest.mark.usefixtures("with_gpu")
def test_several_gpus_need_a_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with pytest.raises(ConfigurationError, match=r"2 GPUs.*accelerate launch"):
        resolve_hardware(HardwareSettings())
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert resolve_hardware(HardwareSettings()).device == "cuda"
