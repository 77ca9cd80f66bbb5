"""One operation: ours and its peers are checked, then timed in pairs."""

from dataclasses import dataclass

import measure
import report
from operations import Operation
from peer import Missing, Peer
from report import Row

# Largest relative L2 of a token against float64. A single bf16 rounding leaves 2e-3; kernels that
# round on the way a few times that; a missing term or a wrong row leaves tenths.
TOLERANCES = {"f32": 1e-4, "bf16": 2e-2}


@dataclass(frozen=True)
class Options:
    dtype: str = "bf16"
    num_tokens: int | None = None  # else the device's
    hidden_size: int | None = None  # else the operation's
    num_pairs: int = 31


class Comparing:
    """One operation on one device."""

    def __init__(self, device, library, operation: Operation, options: Options):
        self.device, self.operation, self.dtype = device, operation, options.dtype
        self._num_pairs = options.num_pairs
        d = options.hidden_size or operation.hidden_size
        self.sizes = operation.sizes(options.num_tokens or device.default_tokens, d)
        self.values = operation.values(d, options.dtype)
        self._expected = operation.expectation(self.values, d, options.dtype)
        self.ours = our_peer(device, library, operation, self.sizes, options.dtype)

    def rows(self) -> list:
        """Ours first, then each peer's."""
        first = self._checked(self.ours)
        if first.status != report.TIMED:
            return [first]
        rows = [first]
        try:
            sets = self._cold_sets()
        except (measure.NotCold, measure.DoesNotFit) as error:
            return [first, self._row("all peers", report.SKIPPED, str(error))]
        for peer in self.device.peers(self.operation):
            rows.append(self._row_of(peer, sets))
        return rows

    def _row_of(self, peer, sets: list) -> Row:
        if isinstance(peer, Missing):
            return self._row(peer.name, report.SKIPPED, peer.reason)
        checked = self._checked(peer)
        if checked.status != report.TIMED:
            return checked
        try:
            comparison = self._timed(peer, sets)
        except Exception as error:  # of somebody else's code
            return self._row(peer.name, report.FAILED, report.first_line(error), checked.error)
        return self._row(peer.name, report.TIMED, error=checked.error, comparison=comparison)

    def _row(self, name: str, status: str, reason: str = "", error=None, comparison=None) -> Row:
        return Row(self.device.kind, self.operation.name, name, status, reason, error, comparison)

    def _new_set(self) -> dict:
        return self.device.make_set(self.operation, self.sizes, self.dtype, self.values)

    def _checked(self, peer: Peer) -> Row:
        """Runs once, on buffers of its own, against float64."""
        try:
            operands = peer.prepare(self._new_set())
            results = {**operands, **dict(zip(peer.outputs, peer.run(operands), strict=True))}
            self.device.finish()
            expected = peer.expect(self._expected)
            errors = {name: self.device.largest_error(results[name], values, self.sizes)
                      for name, values in expected.items()}
        except Exception as error:  # somebody else's code; ours is reported in the same way
            return self._row(peer.name, report.FAILED, report.first_line(error))
        # A NaN compares as the worst.
        name = max(errors, key=lambda key: (errors[key] != errors[key], errors[key]))
        tolerance = TOLERANCES[self.dtype]
        if not errors[name] <= tolerance:
            reason = f"{name} is off by {errors[name]:.1e} (must be at most {tolerance:.0e})"
            return self._row(peer.name, report.WRONG, reason, errors[name])
        return self._row(peer.name, report.TIMED, error=errors[name])

    def _cold_sets(self) -> list:
        self.device.forget()
        first = self._new_set()
        bytes_per_set = sum(size for _, size in self.device.buffers(first))
        count = measure.num_sets(bytes_per_set, self.device.cache_bytes())
        # A peer may keep a layout of its own, and the outputs of a whole turn.
        measure.check_fits(3 * count * bytes_per_set, self.device.available_bytes())
        sets = [first, *(self._new_set() for _ in range(count - 1))]
        self._check_cold(sets)
        return sets

    def _check_cold(self, sets: list) -> None:
        measure.check_cold([self.device.buffers(s) for s in sets], self.device.cache_bytes())

    def _timed(self, peer: Peer, sets: list) -> measure.Comparison:
        theirs = [peer.prepare(s) for s in sets]
        self._check_cold(theirs)
        rotation = measure.Rotation(len(sets))
        ours = measure.Contestant(self.ours.run, [self.ours.prepare(s) for s in sets], rotation)
        other = measure.Contestant(peer.run, theirs, rotation)
        self.device.finish()
        plan = measure.Plan(self._num_pairs, self.device.window, self.device.warm_up)
        return measure.compare(ours, other, self.device.time_calls, plan)


def our_peer(device, library, operation: Operation, sizes: dict, dtype: str) -> Peer:
    backend = library.DEPTHCOST_CUDA if device.kind == "cuda" else library.DEPTHCOST_CPU
    target = library.target(backend=backend, cuda_stream=device.stream())
    storage = library.DEPTHCOST_F32 if dtype == "f32" else library.DEPTHCOST_BF16

    def prepare(operands: dict) -> dict:
        members = operation.members(device.addresses(operands), sizes, storage)
        return {**operands, "args": library.args(operation.function, **members)}

    def run(operands: dict) -> tuple:
        library.call(operation.function, target, operands["args"])
        return ()

    return Peer("depthcost", run, (), prepare)
