#!/usr/bin/env python3
"""Our kernels against PyTorch and public Triton kernels: see README.md.

Exit code: 0 compared; 1 one of ours is wrong or fails; 2 nothing compared, or wrong usage.
"""

import argparse
import importlib.util
import os
import pathlib
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path[:0] = [str(FOLDER), str(ROOT / "kernels" / "c")]

import depthcost  # noqa: E402
import report  # noqa: E402
from compare import Comparing, Options  # noqa: E402
from operations import OPERATIONS  # noqa: E402


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} (must be at least 1)")
    return value


def write_whole(path: pathlib.Path, text: str) -> None:
    """Under a name that nobody can guess, then renamed: what was there stays until it is whole."""
    descriptor, unfinished = tempfile.mkstemp(dir=path.parent)
    with open(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(descriptor, 0o644)
        file.write(text)
    os.replace(unfinished, path)


def writable(path: str) -> pathlib.Path:
    """Found out before an hour of timing; what is there stays until there is something new."""
    file = pathlib.Path(path)
    if file.is_dir():
        raise argparse.ArgumentTypeError(f"{path}: cannot be written (a folder)")
    try:
        with tempfile.TemporaryFile(dir=file.parent):
            return file
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{path}: cannot be written ({error.strerror})") from None


def parsed(arguments: list) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="peers.py", description=__doc__.splitlines()[0])
    parser.add_argument("--library", dest="kernels", required=True, help="libdepthcost_kernels.so")
    parser.add_argument("--device", choices=("all", "cpu", "cuda"), default="all")
    parser.add_argument("--dtype", choices=("bf16", "f32"), default="bf16")
    parser.add_argument("--tokens", type=positive, help="default: 1024 on a CPU, 8192 on a GPU")
    parser.add_argument("--hidden-size", type=positive, help="default: 7168, of mHC 4096")
    parser.add_argument("--operations", default="", metavar="TEXT",
                        help="only those whose name contains it")
    parser.add_argument("--pairs", type=positive, default=31, help="paired samples")
    parser.add_argument("--threads", type=positive, help="of the CPU; default: all it may use")
    parser.add_argument("--json", metavar="FILE", type=writable, help="write the results there too")
    parser.add_argument("--allow-empty", action="store_true",
                        help="exit 0 where there is nothing to compare with")
    options = parser.parse_args(arguments)
    options.chosen = [op for op in OPERATIONS if options.operations in op.name]
    if not options.chosen:
        names = ", ".join(op.name for op in OPERATIONS)
        parser.error(f"no operation contains '{options.operations}' (there are: {names})")
    return options


def set_threads(threads: int) -> None:
    """Before PyTorch and our library start their OpenMP runtimes: the same number for both, and no
    spinning of the one while the other works."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    os.environ["OMP_WAIT_POLICY"] = "passive"


def usable_devices(library, wanted: str, available: list, out) -> list:
    """Kinds that PyTorch and our library both have; says why the others are skipped."""
    kinds = []
    backends = {"cpu": library.DEPTHCOST_CPU, "cuda": library.DEPTHCOST_CUDA}
    for kind, reason in available:
        if wanted not in ("all", kind):
            continue
        if not reason:
            try:
                library.check_target(library.target(backend=backends[kind]))
            except depthcost.Error as error:
                reason = str(error)
        if reason:
            print(f"skipped: {kind}: {reason}", file=out)
        else:
            kinds.append(kind)
    return kinds


def compare_all(library, devices: list, options, out) -> tuple:
    """(rows, contexts)."""
    rows, contexts = [], []
    what = Options(options.dtype, options.tokens, options.hidden_size, options.pairs)
    for device in devices:
        backend = getattr(library, f"DEPTHCOST_{device.kind.upper()}")
        contexts.append(device.context() | {"kernels_hash": library.kernels_hash(backend)})
        with device.without_gradients():
            for operation in options.chosen:
                print(f"{device.kind}: {operation.name}", file=sys.stderr)
                rows += Comparing(device, library, operation, what).rows()
                device.forget()
        print(f"\n{device.kind}, {options.dtype}\n", file=out)
        print(report.table([row for row in rows if row.device == device.kind]), file=out)
    return rows, contexts


def exit_code(rows: list, allow_empty: bool) -> int:
    if any(row.peer == "depthcost" and row.status != report.TIMED for row in rows):
        return 1
    if any(row.comparison is not None for row in rows):
        return 0
    print("nothing was compared", file=sys.stderr)
    return 0 if allow_empty else 2


def main(arguments: list, out=sys.stdout) -> int:
    options = parsed(arguments)
    threads = options.threads or len(os.sched_getaffinity(0))
    set_threads(threads)
    try:
        library = depthcost.Library(options.kernels)
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if importlib.util.find_spec("torch") is None:
        print("skipped: everything: torch is not installed", file=out)
        return exit_code([], options.allow_empty)
    import torch
    from torch_device import TorchDevice, available_devices
    torch.set_num_threads(threads)
    kinds = usable_devices(library, options.device, available_devices(), out)
    rows, contexts = compare_all(library, [TorchDevice(kind) for kind in kinds], options, out)
    if options.json:
        context = {"library": library.version(), "dtype": options.dtype, "devices": contexts}
        write_whole(options.json, report.as_json(rows, context))
    return exit_code(rows, options.allow_empty)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
