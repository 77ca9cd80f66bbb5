"""Two implementations against each other: buffers rotated so that none is in a cache, order ABBA,
the median of paired ratios."""

import collections
import math
import pathlib
import statistics
from dataclasses import dataclass

# Other bytes that pass before a buffer is used again, in sizes of the last cache.
COLD_CACHES = 2


class NotCold(Exception):
    """Buffers come back before the caches have been swept."""


class DoesNotFit(Exception):
    """The sets do not fit into memory."""


def num_sets(bytes_per_set: int, cache_bytes: int) -> int:
    return 1 + max(1, math.ceil(COLD_CACHES * cache_bytes / bytes_per_set))


def check_fits(num_bytes: int, available: int) -> None:
    if num_bytes > 0.7 * available:
        raise DoesNotFit(f"needs {num_bytes / 1e9:.1f} GB (must be below 70 % of the "
                         f"{available / 1e9:.1f} GB that are free)")


class Rotation:
    """Numbers of sets in turn. Contestants that share one never meet a set the other just used."""

    def __init__(self, num_sets: int):
        self.num_sets = num_sets
        self._next = 0

    def next(self) -> int:
        number = self._next
        self._next = (number + 1) % self.num_sets
        return number


def check_cold(buffers_of_sets: list, cache_bytes: int) -> None:
    """`buffers_of_sets`: (address, bytes) of each buffer of each set. No buffer belongs to two."""
    owners: dict = {}
    for number, buffers in enumerate(buffers_of_sets):
        for address, _ in buffers:
            if owners.setdefault(address, number) != number:
                raise NotCold(f"a buffer is in the sets {owners[address]} and {number}")
    sizes = [sum(size for _, size in buffers) for buffers in buffers_of_sets]
    between = sum(sizes) - max(sizes, default=0)
    if between < COLD_CACHES * cache_bytes:
        raise NotCold(f"{between} bytes pass between two uses of a buffer (must be at least "
                      f"{COLD_CACHES * cache_bytes}, {COLD_CACHES} caches)")


class Contestant:
    """An implementation. What it returns is kept for a whole turn of the rotation, so that an
    allocator cannot hand out memory that is still in a cache."""

    def __init__(self, run, sets: list, rotation: Rotation):
        self._run = run
        self._sets = sets
        self._rotation = rotation
        self._kept = [None] * len(sets)

    def call(self) -> None:
        number = self._rotation.next()
        self._kept[number] = self._run(self._sets[number])


@dataclass(frozen=True)
class Sample:
    seconds: float  # per call
    host_share: float  # of that, the host's own until it had issued the call


@dataclass(frozen=True)
class Comparison:
    ours: float  # median seconds per call
    peer: float
    ratio: float  # median of peer / ours, pair by pair
    first_quartile: float
    third_quartile: float
    num_pairs: int
    num_calls: dict  # in a sample, of ours and of the peer
    is_host_paced: bool  # the host took most of the samples of one: its overhead counts


def calls_per_sample(seconds_per_call: float, window: float) -> int:
    return max(1, math.ceil(window / seconds_per_call)) if seconds_per_call > 0 else 1


@dataclass(frozen=True)
class Plan:
    num_pairs: int
    window: float  # seconds of a sample, at least
    warm_up: float  # seconds of each contestant before the first pair: clocks settle


def compare(ours, peer, time_calls, plan: Plan) -> Comparison:
    """time_calls(contestant, num_calls) -> Sample."""
    contestants = {"ours": ours, "peer": peer}
    times = {"ours": [], "peer": []}
    num_calls = {}
    for name, contestant in [*contestants.items()] * 2:  # the first time compiles
        num_calls[name] = calls_per_sample(time_calls(contestant, 2).seconds, plan.window)
    for name, contestant in contestants.items():
        spent = 0.0
        while spent <= plan.warm_up:
            spent += time_calls(contestant, num_calls[name]).seconds * num_calls[name]

    ratios, host_shares = [], {"ours": [], "peer": []}
    for pair in range(plan.num_pairs):
        a, b = ("ours", "peer") if pair % 2 == 0 else ("peer", "ours")
        seconds = {"ours": 0.0, "peer": 0.0}
        for name in (a, b, b, a):
            sample = time_calls(contestants[name], num_calls[name])
            seconds[name] += sample.seconds
            times[name].append(sample.seconds)
            host_shares[name].append(sample.host_share)
        ratios.append(seconds["peer"] / seconds["ours"])
    quartiles = ratios * 3
    if plan.num_pairs > 1:
        quartiles = statistics.quantiles(ratios, n=4, method="inclusive")
    return Comparison(
        ours=statistics.median(times["ours"]), peer=statistics.median(times["peer"]),
        ratio=statistics.median(ratios), first_quartile=quartiles[0], third_quartile=quartiles[2],
        num_pairs=plan.num_pairs, num_calls=num_calls,
        is_host_paced=max(map(statistics.median, host_shares.values())) > 0.8)


def largest_cpu_cache(folder: str = "/sys/devices/system/cpu") -> int:
    """Bytes of the largest level, all of its caches; of a machine that does not say, 32 MiB."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    caches = {}
    for cache in pathlib.Path(folder).glob("cpu[0-9]*/cache/index*"):
        names = ("level", "type", "shared_cpu_list", "size")
        if not all((cache / name).is_file() for name in names):
            continue
        level, kind, sharing, size = [(cache / name).read_text().strip() for name in names]
        if size[-1:] in units:
            caches[level, kind, sharing] = int(size[:-1]) * units[size[-1]]
    totals = collections.Counter()
    for (level, kind, _), size in caches.items():
        totals[level, kind] += size
    return max(totals.values(), default=32 << 20)


def cpu_model(cpuinfo: str = "/proc/cpuinfo") -> str:
    for line in pathlib.Path(cpuinfo).read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def available_memory(meminfo: str = "/proc/meminfo") -> int:
    for line in pathlib.Path(meminfo).read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"{meminfo} has no MemAvailable")
