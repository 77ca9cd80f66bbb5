"""Buffers and clocks of PyTorch, on the CPU or a GPU."""

import math
import platform
import time

import torch

import measure
from operations import DISTINCT_TOKENS, Operation, Values, extents_of, token_axis
from torch_peers import pytorch_peers
from triton_peers import triton_peers

STORAGE = {"f32": torch.float32, "bf16": torch.bfloat16}


class TorchDevice:
    """What compare.py needs of a device. `kind` is cpu or cuda."""

    def __init__(self, kind: str):
        self.kind = kind
        self._is_cuda = kind == "cuda"
        self._device = torch.device(kind)
        self.default_tokens = 8192 if self._is_cuda else 1024
        self.window = 2e-3 if self._is_cuda else 10e-3
        self.warm_up = 0.3
        if self._is_cuda:
            torch.set_float32_matmul_precision("high")  # TF32, as mHC's kernels use
            self._events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def context(self) -> dict:
        context = {"kind": self.kind, "torch": torch.__version__, "host": platform.machine(),
                   "cpu_model": measure.cpu_model(), "threads": torch.get_num_threads(),
                   "cache_bytes": self.cache_bytes()}
        if self._is_cuda:
            context["name"] = torch.cuda.get_device_name()
            context["cuda"] = torch.version.cuda
        return context

    def cache_bytes(self) -> int:
        if not self._is_cuda:
            return measure.largest_cpu_cache()
        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
        return getattr(properties, "L2_cache_size", 0) or 64 << 20

    def available_bytes(self) -> int:
        return torch.cuda.mem_get_info()[0] if self._is_cuda else measure.available_memory()

    def stream(self) -> int | None:
        return torch.cuda.current_stream().cuda_stream if self._is_cuda else None

    def peers(self, operation: Operation) -> list:
        return [*pytorch_peers(operation.function),
                *triton_peers(operation.function, self._is_cuda)]

    def make_set(self, operation: Operation, sizes: dict, dtype: str, values: dict) -> dict:
        """Operand -> tensor: inputs filled, tokens repeated; outputs poisoned."""
        tensors = {}
        for operand in operation.operands:
            storage = torch.float32 if operand.is_float else STORAGE[dtype]
            extents = extents_of(operand.shape, sizes)
            if operand.access == "sum":
                tensors[operand.name] = torch.full(extents, 0.0, dtype=storage,
                                                   device=self._device)
                continue
            if operand.name not in values:
                tensors[operand.name] = torch.full(extents, float("nan"), dtype=storage,
                                                   device=self._device)
                continue
            core = self._core(values[operand.name], sizes, storage)
            axis = token_axis(operand.shape)
            if axis is not None:
                tokens = torch.arange(sizes["T"], device=self._device) % DISTINCT_TOKENS
                core = core.index_select(axis, tokens)
            tensors[operand.name] = core.contiguous()
        return tensors

    def addresses(self, tensors: dict) -> dict:
        return {name: tensor.data_ptr() for name, tensor in tensors.items()}

    def buffers(self, tensors: dict) -> list:
        """(address, bytes) of each."""
        return [(t.data_ptr(), t.numel() * t.element_size()) for t in tensors.values()
                if isinstance(t, torch.Tensor)]

    def largest_error(self, tensor, expected: Values, sizes: dict) -> float:
        """Relative L2 of the worst token; NaN where any element is one."""
        extents = extents_of(expected.shape, sizes)
        if tuple(tensor.shape) != extents:
            raise ValueError(f"shape is {tuple(tensor.shape)} (must be {extents})")
        if expected.is_summed:
            return self._error_of_sum(tensor, expected, sizes)
        axis = token_axis(expected.shape)
        core = self._core(expected, sizes, torch.float64)
        wanted = core.movedim(axis, 0).reshape(DISTINCT_TOKENS, -1)
        actual = tensor.movedim(axis, 0).reshape(sizes["T"], -1)
        errors = []
        for token in range(min(DISTINCT_TOKENS, sizes["T"])):
            difference = actual[token::DISTINCT_TOKENS].double() - wanted[token]
            errors.append((difference.norm(dim=1).max() / wanted[token].norm()).item())
        return max(errors, key=lambda error: (math.isnan(error), error))

    def _error_of_sum(self, tensor, expected: Values, sizes: dict) -> float:
        """Relative L2 of a sum over all tokens, of which every token's part is expected."""
        parts = torch.tensor(expected.data, dtype=torch.float64, device=self._device)
        parts = parts.reshape(DISTINCT_TOKENS, -1)
        counts = [len(range(token, sizes["T"], DISTINCT_TOKENS)) for token in range(DISTINCT_TOKENS)]
        weights = torch.tensor(counts, dtype=torch.float64, device=self._device)
        wanted = (parts * weights.unsqueeze(-1)).sum(0)
        return ((tensor.reshape(-1).double() - wanted).norm() / wanted.norm()).item()

    def time_calls(self, contestant, num_calls: int) -> measure.Sample:
        start = time.perf_counter()
        if not self._is_cuda:
            for _ in range(num_calls):
                contestant.call()
            return measure.Sample((time.perf_counter() - start) / num_calls, 0.0)
        begin, end = self._events
        begin.record()
        for _ in range(num_calls):
            contestant.call()
        end.record()
        host = time.perf_counter() - start
        end.synchronize()
        seconds = begin.elapsed_time(end) * 1e-3
        return measure.Sample(seconds / num_calls, host / seconds if seconds > 0 else 1.0)

    def finish(self) -> None:
        """Errors of what has been launched are raised here."""
        if self._is_cuda:
            torch.cuda.synchronize()

    def forget(self) -> None:
        """Gives buffers that are no longer in use back."""
        if self._is_cuda:
            torch.cuda.empty_cache()

    def without_gradients(self):
        return torch.no_grad()

    def _core(self, values: Values, sizes: dict, storage) -> torch.Tensor:
        extents = extents_of(values.shape, {**sizes, "T": DISTINCT_TOKENS})
        return torch.tensor(values.data, dtype=storage, device=self._device).reshape(extents)


def available_devices() -> list:
    """(kind, reason why not, or empty)."""
    no_cuda = "" if torch.cuda.is_available() else "no CUDA device"
    return [("cpu", ""), ("cuda", no_cuda)]
