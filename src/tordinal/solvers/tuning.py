"""Tuned constants: one frozen dataclass per solver.

The comment of each field names its trade-off and the benchmark that set it; "not measured" means
that no record of one exists. Limits of double precision are not tuned: they stand where they are
used.
"""

from dataclasses import dataclass

__all__ = ["CHOICE", "CUDA", "KERNEL_NEWTON", "NEWTON", "SMO", "SQUARE_ROOT"]


@dataclass(frozen=True)
class ChoiceTuning:
    """Which form of sparse rows `choice.hold` picks."""

    # Rows up to which a small Gram matrix beats conjugate gradients; benchmarks torcv.
    gram_smooth_rows: int = 500
    # Rows up to which a Gram matrix is worth its memory; not measured.
    gram_rows: int = 12_000
    # Products of non-zeros that it may take; not measured.
    gram_products: float = 5e9
    # Tolerance at and below which a Gram matrix in single precision is not used: speed, or
    # the pseudo-labels of a cluster, which solves in the features; benchmarks agreement.
    features_tol: float = 1e-6


@dataclass(frozen=True)
class SMOTuning:
    """`SMO`."""

    # Rows up to which all are in the working set: no rounds, but longer steps; not measured.
    whole_rows: int = 4096
    # The same where pairs of thresholds take turns, each with its own rows; not
    # measured.
    whole_rows_by_pairs: int = 8192
    # Rows of a working set: fewer rounds, or fewer cache misses. 1,040, 2,320 and 3,088 were
    # slower, and powers of two fall on the same lines of the cache; benchmarks tor.
    capacity: int = 1552
    # Rows that are brought in at a time: fewer rounds, or fewer useless rows; not measured.
    entering_rows: int = 512
    # Share of the violation to which a working set is solved: fewer rounds, or fewer steps on
    # rows that are optimal already; not measured.
    round_share: float = 0.2
    # The same for pairs of thresholds that take turns; not measured.
    pair_share: float = 0.5
    # Rows from which every so many are solved first, and to which tolerance: time for the sample,
    # or for more steps of all; not measured.
    sampled_from: int = 2048
    sample_stride: int = 16
    sample_tol: float = 1e-2
    # Kernel values read between two checks for interrupts: about 10 ms; not measured.
    chunk_work: int = 20_000_000
    # Factor of the steps in a chunk where pairs of thresholds take turns; not measured.
    pair_chunk_factor: int = 10
    # Steps, and steps per row, after which a solution is given up; not measured.
    max_steps: int = 1_000_000
    max_steps_per_row: int = 2000
    # Steps that a round over all rows counts as in these limits; not measured.
    steps_per_round: int = 50
    # Steps after which Newton's method on a square root of K takes over; not measured.
    root_after: int = 20_000
    root_after_per_row: int = 50
    # Rows times thresholds squared up to which variables follow their bounds when C2 grows: with
    # the Laplacian loss and C = 100 a fit takes 0.2 to 0.8 of the time; benchmarks corners.
    larger_boxes_size: int = 20_000_000
    # Rows up to which a solution is refined, steps and tolerance of that; not measured.
    refine_rows: int = 1024
    refine_steps: int = 100_000
    refine_tol: float = 1e-12


@dataclass(frozen=True)
class CudaTuning:
    """`CudaSMO`; constants that it shares with `SMO` are in `SMOTuning`."""

    # Steps after which h is computed again before a training may end: one product with the kernel
    # matrix, or rounding errors; not measured.
    refresh_after: int = 10_000
    # Steps of one launch, and rows times steps from which there are fewer: time between two checks
    # for interrupts, about 0.1 s; not measured.
    chunk_steps: int = 20_000
    chunk_work: int = 1_000_000_000
    # Blocks among which rows are summed up; not measured.
    sum_blocks: int = 256


@dataclass(frozen=True)
class NewtonTuning:
    """`Newton`, with its equations."""

    # First width of the band (units of the margin): wide ones need fewer steps, and more updates
    # of the multipliers. From a cold start; not measured.
    cold_width: float = 4.0
    # After new costs, and after new ranks; not measured.
    new_costs_width: float = 0.3
    new_ranks_width: float = 0.2
    # The band shrinks by this factor where an update leaves more than that share of the gap: new
    # curvatures, or more updates; not measured.
    narrowing: float = 0.6
    slow_share: float = 0.5
    # Once the gap is this small the active rows are known, and it shrinks faster; not measured.
    settled_gap: float = 1e-6
    settled_narrowing: float = 0.1
    # Share of the weight of the proximal terms to which a minimisation is solved: fewer steps, or
    # fewer updates; not measured.
    inexact: float = 0.3
    # Newton steps of one training; not measured.
    max_steps: int = 400
    # Tolerance down to which, and entries of X from which, products are in single precision: half
    # the memory traffic, or accurate directions; not measured.
    single_tol: float = 1e-6
    single_size: int = 2**18
    # Trainings that reuse projections before they are recomputed; not measured.
    carried_trainings: int = 8
    # Rows up to which a solution is refined to rounding, and the tolerances; not measured.
    refine_rows: int = 1024
    refine_steps: int = 100
    refine_tol: float = 1e-13
    refine_tol_large: float = 1e-6
    # Rows by which a factor is updated before the next factorisation, plus one per so many
    # features: factorisations, or longer solves; not measured.
    updated_rows: int = 24
    features_per_updated_row: int = 6
    # Updates of X'DX after which it is recomputed, for accuracy; not measured.
    max_updates: int = 50
    # Iterations of conjugate gradients in one step; not measured.
    max_cg: int = 200
    # They end where another one adds less than this share to the decrease; not measured.
    cg_share: float = 0.25
    # The same for a piecewise linear loss at and below a tight tolerance. Inexact directions
    # amplify rounding until it decides which labels are swapped: speed, or the pseudo-labels of
    # a cluster, whose sums round differently; benchmarks agreement.
    accurate_tol: float = 1e-5
    accurate_max_cg: int = 2000
    accurate_cg_share: float = 1e-5
    # Iterations that an old factor costs for free, and features for which a new factor costs as
    # much as one iteration; not measured.
    free_cg: int = 3
    features_per_cg: int = 16


@dataclass(frozen=True)
class KernelNewtonTuning:
    """`KernelNewton`, with its preconditioner."""

    # Newton steps of one training, and products of one step; not measured.
    max_steps: int = 200
    max_cg: int = 300
    # Share of the gradient to which the equations are solved: fewer products, or fewer steps; not
    # measured.
    forcing: float = 0.1
    # Share of the tolerable decrement that may stay unknown; not measured.
    unknown_share: float = 0.1
    # Share of it below which a good preconditioner's estimate ends a training; not measured.
    certain_share: float = 0.25
    # Rows up to which all are factored; beyond, every second, third ... row; not measured.
    factored_rows: int = 6144
    # Rows that count are factored alone where they are at most one in so many and the others add at
    # most that to eigenvalues of 1; not measured.
    few_share: int = 8
    negligible_eigenvalue: float = 10.0
    # Least curvature in the preconditioner, as a share of a row's cost; not measured.
    least_curvature: float = 1e-3
    # Iterations that an old factor costs for free, and rows for which a new factor costs as much as
    # one iteration; not measured.
    free_cg: int = 3
    rows_per_cg: int = 128
    # Rows up to which double precision is quick enough. Single precision has called a wrong point
    # optimal there; not measured.
    double_rows: int = 512
    # Tolerance below which products are in double precision; not measured.
    double_tol: float = 1e-4
    # Curvature from which single precision is not tried; not measured.
    double_curvature: float = 1e6
    # Rows from which a factorisation uses all threads, which cost 10 ms; benchmarks corners.
    threaded_rows: int = 2500
    # Rows up to which a solution is refined, steps and tolerance of that; not measured.
    refine_rows: int = 1024
    refine_steps: int = 100
    refine_tol: float = 1e-9


@dataclass(frozen=True)
class SquareRootTuning:
    """`SquareRoot`."""

    # Rows up to which a root of any rank is quick to work with; not measured.
    rows: int = 1024
    # Rank up to which it is so with any number of rows; benchmarks contract.
    rank: int = 128


CHOICE = ChoiceTuning()
CUDA = CudaTuning()
SMO = SMOTuning()
NEWTON = NewtonTuning()
KERNEL_NEWTON = KernelNewtonTuning()
SQUARE_ROOT = SquareRootTuning()
