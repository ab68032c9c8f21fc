"""Names that programs of other people ask first are there, and say what they cannot do.

Mirrors: nothing in PyTorch: there the names do what they say.
"""

import importlib
import os
import threading
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import reftorch as _reftorch
from reftorch import _C

reftorch: Any = _reftorch  # most names here have no types
ABSENT = ("complex32", "complex64", "complex128", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2", "qint8",
          "int4", "bits8")  # fmt: skip
FACTS = ("is_floating_point", "is_complex", "itemsize", "abbr")


@pytest.mark.parametrize("name", ABSENT)
def test_a_dtype_that_no_tensor_has_is_a_name(name: str, real_torch: ModuleType, noted: Any) -> None:
    ours = getattr(reftorch, name)
    assert isinstance(ours, reftorch.dtype) and ours != reftorch.float32 and ours is getattr(reftorch, name)
    facts = [repr(ours), *(getattr(ours, fact) for fact in FACTS), repr(ours.to_real())]
    theirs = getattr(real_torch, name)
    assert facts == noted([repr(theirs), *(getattr(theirs, fact) for fact in FACTS), repr(theirs.to_real())])


@pytest.mark.parametrize("call", [
    lambda dtype: reftorch.ones(2, dtype=dtype), lambda dtype: reftorch.tensor([1], dtype=dtype),
    lambda dtype: reftorch.ones(2).to(dtype), lambda dtype: reftorch.ones(2).view(dtype),
    lambda dtype: reftorch.ones(2).sum(dtype=dtype), lambda dtype: reftorch.nn.Linear(1, 1, dtype=dtype),
    lambda dtype: reftorch.promote_types(dtype, reftorch.float32), lambda dtype: reftorch.set_default_dtype(dtype),
])  # fmt: skip
def test_a_tensor_of_such_a_dtype_is_refused_in_one_sentence(call: Any) -> None:
    with pytest.raises(NotImplementedError, match=r"^torch\.complex64 is only a name here: "):
        call(reftorch.complex64)


def test_aliases_of_dtypes() -> None:
    assert reftorch.cfloat is reftorch.complex64 and reftorch.cdouble is reftorch.complex128
    assert reftorch.float32.to_complex() is reftorch.complex64 and reftorch.complex128.to_real() is reftorch.float64


def test_compile_returns_what_it_gets_and_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reftorch._utils, "_warned", set())
    net = reftorch.nn.Linear(1, 1)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert reftorch.compile(net, disable=True) is net and not said
        assert reftorch.compile(net) is net and reftorch.compile(mode="max-autotune")(net) is net
        net.compile()
    assert [str(warning.message) for warning in said] == [
        "torch.compile: there is no compiler here, so the function or module runs as it is."
    ]


def test_questions_about_a_compiler() -> None:
    compiler, dynamo = reftorch.compiler, reftorch._dynamo
    assert not compiler.is_compiling() and not compiler.is_dynamo_compiling() and not dynamo.is_compiling()
    assert compiler.disable(reftorch.relu) is reftorch.relu and compiler.disable(recursive=False)(len) is len
    assert dynamo.disable(len) is len and dynamo.optimize("inductor")(len) is len and not compiler.list_backends()
    dynamo.config.suppress_errors = True
    with compiler.set_stance("force_eager"):
        assert not isinstance(reftorch.nn.ReLU(), dynamo.eval_frame.OptimizedModule)
    assert compiler.wrap_numpy(lambda x: x + 1)(reftorch.ones(2)).tolist() == [2.0, 2.0]


def test_questions_about_other_processes_and_devices() -> None:
    distributed: Any = reftorch.distributed
    assert distributed.is_available() and not (distributed.is_initialized() or distributed.is_nccl_available())
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        distributed.get_rank()
    assert not (reftorch.xpu.is_available() or reftorch.mps.is_available() or reftorch.mtia.is_available())
    assert importlib.import_module("reftorch.distributed.nn") is distributed.nn


def test_data_parallel_hands_the_call_on() -> None:
    layer = reftorch.nn.Linear(2, 1)
    both = reftorch.nn.DataParallel(layer)
    assert reftorch.equal(both(reftorch.ones(3, 2)), layer(reftorch.ones(3, 2)))
    assert list(both.state_dict()) == ["module.weight", "module.bias"] and both.module is layer


@pytest.mark.filterwarnings("ignore")  # torch says why a kernel does not fit
def test_sdpa_kernel_chooses_among_what_is_there(real_torch: ModuleType) -> None:
    def answer(lib: ModuleType, names: Any, dims: int = 4) -> Any:
        attention = importlib.import_module(f"{lib.__name__}.nn.attention")
        chosen = [getattr(attention.SDPBackend, name) for name in names]
        q = lib.ones([1] * (dims - 2) + [2, 4], requires_grad=True)
        try:
            with attention.sdpa_kernel(chosen if len(chosen) != 1 else chosen[0]):
                result = lib.nn.functional.scaled_dot_product_attention(q, q, q)
        except RuntimeError as error:
            return str(error)
        return result.grad_fn.name()

    calls = [
        (("MATH",), 4),
        (("FLASH_ATTENTION",), 4),
        (("FLASH_ATTENTION", "MATH"), 4),
        (("FLASH_ATTENTION", "MATH"), 2),
        (("FLASH_ATTENTION",), 2),
        (("EFFICIENT_ATTENTION",), 4),
        ((), 4),
    ]
    for names, dims in calls:
        ours = answer(reftorch, names, dims)
        assert ours == answer(real_torch, names, dims)
    assert answer(reftorch, ("FLASH_ATTENTION", "MATH")) == "ScaledDotProductFlashAttentionForCpuBackward0"


def test_flex_attention_says_what_it_lacks() -> None:
    from reftorch.nn.attention import flex_attention

    q = reftorch.ones(1, 1, 2, 4)
    with pytest.raises(NotImplementedError, match=r"^flex_attention: it needs a compiler"):
        flex_attention.flex_attention(q, q, q)


def test_futures() -> None:
    from reftorch.futures import Future, collect_all, wait_all

    future: Any = Future()
    doubled = future.then(lambda done: 2 * done.value())
    failed = future.then(lambda done: 1 / 0)
    threading.Timer(0.01, lambda: future.set_result(3)).start()
    assert doubled.wait() == 6 and future.done() and wait_all([future, doubled]) == [3, 6]
    assert collect_all([]).wait() == []
    with pytest.raises(ZeroDivisionError):
        failed.wait()
    with pytest.raises(RuntimeError, match="already completed"):
        future.set_result(1)


def test_a_hub_of_a_folder_works_and_a_download_is_refused(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("WIDTH = 3")
    (tmp_path / "hubconf.py").write_text(
        "dependencies = ['os']\nfrom helper import WIDTH\n"
        "def model(bias=True):\n    'A layer.'\n    return WIDTH, bias\n"
    )
    hub = reftorch.hub
    assert hub.load(tmp_path, "model", source="local", bias=False) == (3, False)
    assert hub.list(tmp_path) == ["model"] and hub.help(tmp_path, "model") == "A layer."
    with pytest.raises(RuntimeError, match="Cannot find callable other in hubconf"):
        hub.load(tmp_path, "other", source="local")
    with pytest.raises(RuntimeError, match=r"^torch.hub.load: a download of pytorch/vision is refused here. Hint: "):
        hub.load("pytorch/vision", "resnet18")
    with pytest.raises(RuntimeError, match=r"a download of https://x.org/w.pth is refused here"):
        hub.load_state_dict_from_url("https://x.org/w.pth", str(tmp_path))
    reftorch.save({"w": reftorch.ones(1)}, tmp_path / "w.pth")
    assert hub.load_state_dict_from_url("https://x.org/w.pth", str(tmp_path))["w"].item() == 1


def test_tensor_types_name_their_device() -> None:
    with reftorch.device("meta"):
        assert reftorch.FloatTensor([1.0]).device.type == reftorch.LongTensor(2).device.type == "cpu"
    assert reftorch.ones(1, device="meta").new(2).device.type == "meta"
    layer = reftorch.nn.Linear(1, 1)
    assert layer.type("torch.DoubleTensor").weight.dtype == reftorch.float64
    assert layer.type(reftorch.HalfTensor).weight.dtype == reftorch.float16
    assert layer.type(reftorch.float32).weight.dtype == reftorch.float32
    assert not isinstance(reftorch.ones(1), reftorch.cuda.FloatTensor)
    assert str(reftorch.cuda.HalfTensor) == "torch.cuda.HalfTensor"
    if not reftorch.cuda.is_available():
        with pytest.raises(TypeError, match=r"^type torch\.cuda\.FloatTensor not available\."):
            reftorch.cuda.FloatTensor(2)


@pytest.mark.parametrize("device", ["cpu", reftorch.device("cpu"), reftorch.device("meta")])
def test_a_device_that_is_no_gpu_is_refused_by_cuda(device: Any) -> None:
    for thing in (reftorch.ones(1), reftorch.nn.Linear(1, 1)):
        with pytest.raises(RuntimeError, match="Invalid device, must be cuda device"):
            thing.cuda(device)


def test_files_are_memory(tmp_path: Path) -> None:
    path = os.fspath(tmp_path / "numbers")
    shared = reftorch.from_file(path, shared=True, size=3, dtype=reftorch.int16)
    shared.copy_(reftorch.tensor([1, 2, 3]))
    assert reftorch.from_file(path, size=3, dtype=reftorch.int16).tolist() == [1, 2, 3]
    assert reftorch.UntypedStorage.from_file(path, True, 8).nbytes() == 8 and os.path.getsize(path) == 8
    own = reftorch.UntypedStorage.from_file(path, nbytes=2)
    own[0] = 9
    assert shared.tolist() == [1, 2, 3]
    with pytest.raises(RuntimeError, match=r"from_file: the file <.*> has 8 bytes, expected 99"):
        reftorch.UntypedStorage.from_file(path, False, 99)
    with pytest.raises(RuntimeError, match="from_file: unable to open file"):
        reftorch.from_file(path + ".no", size=1)


def test_other_names() -> None:
    assert reftorch.GradScaler is reftorch.amp.GradScaler
    assert reftorch.__future__.get_swap_module_params_on_conversion() is False
    assert _C._log_api_usage_once("x") is None
    assert importlib.import_module("reftorch._functorch.deprecated").vmap is reftorch.vmap
    assert importlib.import_module("reftorch.cuda.amp.grad_scaler").GradScaler is reftorch.cuda.amp.GradScaler
    assert reftorch.backends.opt_einsum.is_available() is False and reftorch.backends.mha.get_fastpath_enabled()
    assert issubclass(reftorch.OutOfMemoryError, RuntimeError)
    assert importlib.import_module("reftorch.utils.model_zoo").load_url is reftorch.hub.load_state_dict_from_url


def test_what_libraries_import_before_they_ask(real_torch: ModuleType, noted: Any) -> None:
    from reftorch.nn.attention.flex_attention import _DEFAULT_SPARSE_BLOCK_SIZE, AuxRequest
    from reftorch.utils.data.dataloader import _collate_fn_t, _worker_init_fn_t

    assert isinstance(reftorch.futures.Future(), reftorch.Future) and _C._get_tracing_state() is None
    assert not (reftorch.cuda.is_current_stream_capturing() or _C._are_functorch_transforms_active())
    inside: list[bool] = []
    reftorch.func.grad(lambda x: inside.append(_C._are_functorch_transforms_active()) or x)(reftorch.ones(()))
    assert _C._nn._parse_to("cpu", reftorch.half)[:2] == (reftorch.device("cpu"), reftorch.half)
    assert inside == [True] and isinstance(reftorch.Tensor, _C._TensorMeta)
    assert AuxRequest(lse=True) == (True, False) and _DEFAULT_SPARSE_BLOCK_SIZE == 128
    assert "Callable" in str(_collate_fn_t) and "Callable" in str(_worker_init_fn_t)
    match = reftorch.hub.HASH_REGEX.search("resnet18-bf5a8c27.pth")
    assert match is not None and [match.group(1)] == noted(
        [real_torch.hub.HASH_REGEX.search("resnet18-bf5a8c27.pth").group(1)]
    )
    asked = ["cpu", "mps", "xpu", "hpu", "mtia", "xla"]
    ours, theirs = ([t.is_autocast_enabled(device) for device in asked] for t in (reftorch, real_torch))
    assert ours == noted(theirs) == [False] * len(asked)


def test_a_library_of_ops_is_loaded_by_its_path() -> None:
    path = Path(importlib.import_module("scipy_openblas32").get_lib_dir()) / "libscipy_openblas.so"
    reftorch.ops.load_library(path)
    assert str(path.resolve()) in reftorch.ops.loaded_libraries
    with pytest.raises(OSError, match="no such library"):
        reftorch.ops.load_library("no such library")


@pytest.mark.parametrize("name", ["SymInt", "SymFloat", "SymBool"])
def test_no_number_is_symbolic(name: str) -> None:
    kind = getattr(reftorch, name)
    assert not any(isinstance(number, kind) for number in (reftorch.ones(2).size(0), 1.0, True))
    with pytest.raises(NotImplementedError, match=rf"^{name}: symbolic shapes do not exist here"):
        kind(None)


def test_no_tensor_only_pretends() -> None:
    from reftorch._subclasses import FakeTensor, FakeTensorMode
    from reftorch._subclasses.fake_tensor import is_fake

    assert not is_fake(reftorch.ones(2)) and not isinstance(reftorch.ones(2, device="meta"), FakeTensor)
    for make in (FakeTensorMode, lambda: FakeTensor(reftorch.ones(2))):
        with pytest.raises(NotImplementedError, match=r"^(FakeTensorMode|FakeTensor): .* here"):
            make()


def test_checkpoints_of_hugging_face_are_refused() -> None:
    from reftorch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader, HuggingFaceStorageWriter

    for make in (HuggingFaceStorageReader, HuggingFaceStorageWriter):
        with pytest.raises(NotImplementedError, match=rf"^{make.__name__}: checkpoints of several ranks"):
            make("folder")


def test_a_mode_for_a_tracer_changes_nothing() -> None:
    from reftorch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex

    rows = reftorch.arange(6).view(2, 3)
    with TransformGetItemToIndex():
        picked = reftorch.vmap(lambda i: rows[i])(reftorch.tensor([1, 0]))
    assert picked.tolist() == [[3, 4, 5], [0, 1, 2]]
