"""SMO on a GPU: one persistent kernel takes the steps, and nothing of length N leaves the device.

The method is that of `tordinal.solvers.smo`; ``engines/cuda/kernels.cu`` has the steps. A training
that follows a swap of labels, of which Algorithm 1 has hundreds, changes a few rows of the last
state and continues. h is in double precision, and is computed again from the variables after so
many steps that rounding errors could have added up.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tordinal.engines.cuda.gram import CudaGram
from tordinal.problem import Problem
from tordinal.reduction import signs
from tordinal.solvers.cuda.solution import DeviceSolution, DeviceState
from tordinal.solvers.newton.square_root import SquareRoot
from tordinal.solvers.smo.driver import FINEST
from tordinal.solvers.smo.larger_boxes import in_larger_boxes
from tordinal.solvers.smo.warm_starts import ZERO_SUM
from tordinal.solvers.solver import COARSE, GAP, HUGE_COST, NEGLIGIBLE, Solution, Solver, Task
from tordinal.solvers.tuning import CUDA, NEWTON
from tordinal.solvers.tuning import SMO as TUNING

__all__ = ["CudaSMO"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

N_SUMS = 5  # of `row_sums` in kernels.cu


class Extremes(NamedTuple):
    """Steps taken; per threshold the least gradient to raise, the largest to lower; and c."""

    steps: int
    least: Array
    most: Array
    c: Array


class DualSums(NamedTuple):
    """Sums over rows: a'h, losses, the sum of |a|, a'a, and s'beta."""

    norm: float
    losses: float
    size: float
    squares: float
    signed: float


class CudaSMO(Solver):
    """Solver of the piecewise linear losses with a kernel matrix on a GPU.

    `tol` bounds the largest violation of the optimality conditions by an allowed pair.

    Parameters
    ----------
    data : CudaGram
        Kernel values between the training rows.
    problem : Problem
        A problem with a piecewise linear loss and any coupling.
    """

    data: CudaGram
    coarse = COARSE

    def __init__(self, data: CudaGram, problem: Problem):
        super().__init__(data, problem)
        self._root: SquareRoot | None = None
        self._tried_root = False
        device, n, m = data.device, data.n_rows, problem.n_thresholds
        xp = device.xp
        self._shared = 4 * m * 8
        self._blocks, warps = device.step_blocks(n, data.dtype, self._shared)
        self._diagonal = device.put(data.diagonal)
        first, last = problem.coupling.spans(m)
        self._spans = device.put(first, np.int32), device.put(last, np.int32)
        self._masks = xp.empty(2 * -(-m // 32) * n, dtype=np.uint32)
        self._records = xp.empty(12 * self._blocks * warps)
        self._places = xp.empty(8 * self._blocks * warps, dtype=np.int32)
        self._of_blocks = xp.empty(2 * self._blocks * m)
        self._arrived = xp.zeros(1, dtype=np.uint32)
        self._out = xp.empty(1 + 3 * m)
        self._allowed = device.put(problem.coupling.pairs(m).astype(np.uint8))
        # Ranks and costs as they were uploaded last.
        self._uploaded: tuple[Any, Any] = (None, None)
        self._y: Any = None
        self._cost: Any = None

    @classmethod
    def handles(cls, problem: Problem, data: Any) -> bool:
        return not (problem.smooth or data.in_features) and data.device is not None

    # A training ---------------------------------------------------------------------------------

    def run(self, task: Task) -> Any:
        """Solve one task; the solution is in the units of the scaled problem."""
        if self._root is not None:
            return self._root.run(_on_host(task))
        coupling, n = self.problem.coupling, len(task.y)
        if task.warm is None and n >= TUNING.sampled_from and coupling.any_pair:
            task = replace(task, warm=self._solve_sample(task))
        warm: Any = task.warm
        swapped = warm is not None and np.array_equal(warm.cost, task.cost)
        beta, h, c = self._start(task)
        self._upload(task)
        # As in `SMO.run`: violations within the tolerance matter where the objective is small.
        last = warm.objective if swapped else 0.0
        doubtful = float(task.cost.sum()) * len(c) > GAP * last
        steps = since_refresh = stalled = rounds = 0
        tol = goal = task.tol
        raised = lowered = -1
        room = np.inf
        chunk = 0 if not coupling.any_pair else self._chunk
        while True:
            most = int(min(chunk, max(task.limit - steps, 0)))
            view = self._steps(beta, h, c, raised, lowered, room, goal, most)
            c, steps, since_refresh = view.c, steps + view.steps, since_refresh + view.steps
            raised, lowered, violation = coupling.worst_pair(c, view.least, view.most)
            if steps >= task.limit:
                break
            if violation <= tol:
                if since_refresh > CUDA.refresh_after:
                    # The true test: projections by the variables themselves.
                    h = self.data.device_times(beta.sum(axis=1))
                    since_refresh, chunk = 0, 0
                    continue
                # With a huge cost even a small violation weighs much.
                if not (doubtful and self._gap_too_large(task, beta, h, view)):
                    break
                if tol <= FINEST:
                    tol = 0.0  # no smaller violation can be reached: not converged
                    break
                tol *= 0.1
            elif chunk:  # steps were possible: were any taken?
                stalled = 0 if view.steps else stalled + 1
            rounds += 1
            work = steps + TUNING.steps_per_round * rounds
            if stalled > 1 or work >= TUNING.max_steps + TUNING.max_steps_per_row * n:
                break
            if not self._tried_root and work >= TUNING.root_after + TUNING.root_after_per_row * n:
                self._tried_root = True
                self._root = SquareRoot.of(self.data, self.problem)
                if self._root is not None:
                    here = self._solution(task, beta, h, view, steps, violation, 0.0)
                    rest = replace(task, warm=here.on_host(), limit=task.limit - steps)
                    finished = self._root.run(rest)
                    return replace(finished, n_iter=finished.n_iter + steps)
            one_pair = raised >= 0 and raised < lowered  # others may become worse meanwhile
            chunk = self._chunk
            goal = max(tol, TUNING.round_share * violation) if one_pair else tol
            room = coupling.room(c, raised, lowered)
            task.report(steps, violation)
        return self._solution(task, beta, h, view, steps, violation, tol)

    @property
    def _chunk(self) -> int:
        """Steps of one launch, about a tenth of a second: interrupts are served in between."""
        return int(np.clip(CUDA.chunk_work // self.data.n_rows, 1000, CUDA.chunk_steps))

    def _solve_sample(self, task: Task) -> Any:
        """A rough solution for every 16th row with a cost, as in `SMO`."""
        used = np.flatnonzero(task.cost > 0)
        if len(used) < TUNING.sampled_from:
            return None
        cost = np.zeros_like(task.cost)
        some = used[:: TUNING.sample_stride]
        cost[some] = TUNING.sample_stride * task.cost[some]
        return self.run(replace(task, cost=cost, tol=max(task.tol, TUNING.sample_tol)))

    def _steps(
        self, beta: Any, h: Any, c: Array, raised: int, lowered: int, room: float, goal: float,
        most: int,
    ) -> Extremes:  # fmt: skip
        """Take steps, in place; with ``most=0`` only the extremes are computed."""
        data, problem, device = self.data, self.problem, self.data.device
        coupling, m = problem.coupling, problem.n_thresholds
        on_device = device.put(c)
        self._arrived.fill(0)
        by_pairs = raised >= 0 and bool(coupling.pairs(m)[raised, lowered])
        _, _, low, high, kink = problem.shape
        device.launch_steps(
            self._blocks, self._shared, data.dtype, data.values, self._diagonal, data.n_rows, m,
            self._y, self._cost, *self._spans, float(low), float(high), float(kink),
            float(coupling.r), h, beta, on_device, self._masks, int(raised), int(lowered),
            float(room), self._allowed if by_pairs and most else None, float(TUNING.pair_share),
            float(goal), most, self._records, self._places, self._of_blocks, self._arrived,
            self._out,
        )  # fmt: skip
        out = device.get(self._out)
        return Extremes(int(out[0]), *out[1:].reshape(3, m))

    def _sums(self, beta: Any, h: Any, t: Array) -> DualSums:
        """Sums over the rows with a cost, for the objective at (h, t) and for the dual."""
        device, n, m = self.data.device, self.data.n_rows, len(t)
        n_blocks = min(-(-n // 256), CUDA.sum_blocks)
        parts = device.xp.empty((n_blocks, N_SUMS))
        _, _, low, high, kink = self.problem.shape
        device.launch(
            "row_sums", n_blocks, self.data.dtype, n, m, self._y, self._cost, h, beta,
            device.put(t), *self._spans, float(low), float(high), float(kink), parts,
        )  # fmt: skip
        return DualSums(*device.get(parts).sum(axis=0).tolist())

    def _gap_too_large(self, task: Task, beta: Any, h: Any, view: Extremes) -> bool:
        """Whether the duality gap is still too large."""
        t = self.problem.coupling.thresholds(view.c, view.least, view.most)
        sums = self._sums(beta, h, t)
        value = self._objective(sums, t)
        return task.gap_too_large(value + self._dual(sums, view.c), value)

    def _objective(self, sums: DualSums, t: Array) -> float:
        return 0.5 * sums.norm + self.problem.coupling.penalty(t) + sums.losses

    def _dual(self, sums: DualSums, c: Array) -> float:
        r, kink = self.problem.coupling.r, self.problem.lines.kink
        return 0.5 * (sums.norm + r * float(c @ c)) - kink * sums.signed

    def _solution(
        self, task: Task, beta: Any, h: Any, view: Extremes, steps: int, violation: float,
        tol: float,
    ) -> Any:  # fmt: skip
        t = self.problem.coupling.thresholds(view.c, view.least, view.most)
        sums = self._sums(beta, h, t)
        value = self._objective(sums, t)
        state = DeviceState(beta, h, view.c, t, task.y, task.cost)
        solution = DeviceSolution(
            self.data.device, state, state, 1.0, value, task.y, task.cost, steps,
            max(violation, 0.0), bool(violation <= 1.001 * tol), sums.size, sums.squares,
        )  # fmt: skip
        if float(task.cost.max()) <= HUGE_COST:
            return solution
        # Updated values, and the sum of the weights, are lost in rounding.
        a = solution.coefficients - solution.coefficients.mean()
        h = self.data.times(a)
        true_value = self.problem.objective(task.y, task.cost, h, float(a @ h), t)
        if task.gap_too_large(true_value - value, true_value):
            violation = max(violation, (true_value - value) / true_value)
        return replace(
            solution.on_host(), h=h, coefficients=a, objective=true_value,
            violation=max(violation, 0.0), converged=bool(violation <= 1.001 * tol),
        )  # fmt: skip

    def _upload(self, task: Task) -> None:
        """Bring ranks and costs to the device, as far as they have changed."""
        y, cost = self._uploaded
        device = self.data.device
        if y is None:
            self._y = device.put(task.y, np.int32)
        elif len(rows := np.flatnonzero(task.y != y)):
            self._y[device.put(rows)] = device.put(task.y[rows], np.int32)
        if cost is None or not np.array_equal(task.cost, cost):
            self._cost = device.put(task.cost)
        self._uploaded = task.y, task.cost

    # Where it starts ----------------------------------------------------------------------------

    def _start(self, task: Task) -> tuple[Any, Any, Array]:
        """A feasible start, as `WarmStarts.state_for` makes it: beta, h and c."""
        xp, device = self.data.device.xp, self.data.device
        n, m = len(task.y), self.problem.n_thresholds
        warm: Any = task.warm
        if warm is not None and warm.end is not None:
            if (swapped := self._after_swaps(task, warm.end)) is not None:
                return swapped
            u = self._units(warm.end)
        elif warm is None or warm.u is None:
            return xp.zeros((n, m)), xp.zeros(n), np.zeros(m)
        else:
            u = device.put(warm.u)
        lines, coupling = self.problem.lines, self.problem.coupling
        low, high = lines.box
        y, cost = device.put(task.y), device.put(task.cost)
        s, C = self._signs(y), self._costs(y, cost)
        warm_h = device.put(warm.h) if warm.end is None else warm.end.h
        warm_t = warm.thresholds if warm.end is None else warm.end.t
        margin = s * (warm_h[:, None] - device.put(warm_t))
        fresh = device.put((warm.cost == 0) & (task.cost > 0))
        bound = xp.where(margin < lines.kink, high, low)
        beta = xp.where(fresh[:, None], bound, xp.clip(u, low, high)) * C * s
        coupling.balance(beta, margin)
        starts = [self._with_h(beta)]
        if np.array_equal(task.y, warm.y) and (task.cost >= warm.cost).all():
            # Where no variable is at its bound any more, larger boxes change nothing: the warm
            # solution itself is better.
            kept = u * self._costs(y, device.put(warm.cost)) * s
            starts.append(self._with_h(kept))
            if low < 0 and coupling.any_pair and n * m * m <= TUNING.larger_boxes_size:
                followed = in_larger_boxes(
                    self.problem, task.y, task.cost, device.get(u), device.get(kept), warm_t,
                )  # fmt: skip
                followed = device.put(followed)
                coupling.balance(followed, margin)
                starts.append(self._with_h(followed))
        if len(starts) == 1:
            return starts[0]
        self._upload(task)
        zero = np.zeros(m)
        return min(starts, key=lambda at: self._dual(self._sums(at[0], at[1], zero), at[2]))

    def _with_h(self, beta: Any) -> tuple[Any, Any, Array]:
        device = self.data.device
        c = device.get(beta.sum(axis=0))
        # Sums that are only rounding would pass for multipliers of t_k <= t_{k+1}.
        c[np.abs(c) <= ZERO_SUM * float(device.get(abs(beta).sum()))] = 0.0
        return beta, self.data.device_times(beta.sum(axis=1)), c

    def _after_swaps(self, task: Task, last: DeviceState) -> tuple[Any, Any, Array] | None:
        """The same start, if only labels were swapped; in time in proportion to those rows.

        A variable is negated where its row has changed sides. None if more has changed, or if the
        swapped rows were not at opposite bounds.
        """
        if not (self.problem.coupling.any_pair and np.array_equal(task.cost, last.cost)):
            return None
        device = self.data.device
        rows = np.flatnonzero(task.y != last.y)
        if len(rows) == 0:
            return last.beta.copy(), last.h.copy(), last.c
        where = device.put(rows)
        old = device.get(last.beta[where])
        m = old.shape[1]
        low, high = self.problem.lines.box
        s, before = signs(task.y[rows], m), signs(last.y[rows], m)
        C = task.cost[rows][:, None]
        new = s * np.clip(before * old, low * C, high * C)
        c = last.c + (new - old).sum(axis=0)
        if abs(float(c.sum())) > ZERO_SUM * float(np.abs(c).sum()):
            return None
        beta = last.beta.copy()
        beta[where] = device.put(new)
        change = new.sum(axis=1) - old.sum(axis=1)
        return beta, self.data.device_combine(last.h, rows, change), c

    def _signs(self, y: Any) -> Any:
        xp = self.data.device.xp
        return xp.where(y[:, None] > xp.arange(self.problem.n_thresholds), 1.0, -1.0)

    def _costs(self, y: Any, cost: Any) -> Any:
        """C_i at the thresholds that row i uses, 0 at the others."""
        xp = self.data.device.xp
        k, (first, last) = xp.arange(self.problem.n_thresholds), self._spans
        used = (k >= first[y][:, None]) & (k < last[y][:, None])
        return xp.where(used, cost[:, None], 0.0)

    def _units(self, state: DeviceState) -> Any:
        """Variables in units of the cost, with a positive sign where the loss is."""
        xp, device = self.data.device.xp, self.data.device
        cost = device.put(state.cost)[:, None]
        u = self._signs(device.put(state.y)) * state.beta
        return xp.where(cost > 0, u / xp.where(cost > 0, cost, 1.0), 0.0)

    # What `Solver.solve` asks -------------------------------------------------------------------

    def _with_predicted_projections(self, task: Task, solution: Any) -> Any:
        if solution.end is None:
            return super()._with_predicted_projections(task, solution)
        total = float(task.cost.sum()) / self.data.scale * self.problem.n_thresholds
        allowed = task.tol * solution.objective + NEGLIGIBLE * total
        size, squares = solution.unit * solution.size, solution.unit**2 * solution.squares
        rounding = self.data.rounding_of(size)
        if total * rounding <= allowed and self.data.uncertainty_of(squares) <= allowed:
            return solution
        return super()._with_predicted_projections(task, solution.on_host())

    def _fall_back_to_zero(self, task: Task, solution: Any) -> Any:
        if not self._worse_than_zero(task, solution):
            return solution
        return super()._fall_back_to_zero(task, solution.on_host())

    def _keep_warm_start_if_better(self, warm: Any, solution: Any) -> Any:
        if warm.end is None or solution.end is None:
            return super()._keep_warm_start_if_better(warm.on_host(), solution.on_host())
        rows = np.flatnonzero(warm.y != solution.y)
        if len(rows) == 0 or not np.array_equal(warm.cost, solution.cost):
            return solution
        device, t, cost = self.data.device, warm.thresholds, warm.cost[rows]
        h = device.get(warm.model.h[device.put(rows)])
        before, now = (self.original.losses(y[rows], cost, h, t) for y in (warm.y, solution.y))
        value = warm.objective + (now - before)
        if not value < solution.objective:
            return solution
        return replace(solution, model=warm.model, unit=warm.unit, objective=value)

    def refinement(self, n_rows: int) -> tuple[float, int] | None:
        if n_rows > TUNING.refine_rows:
            return None
        tol = TUNING.refine_tol if self._root is None else NEWTON.refine_tol
        return tol, TUNING.refine_steps

    def refine(self, solution: Any) -> Solution:
        return super().refine(solution.on_host())


def _on_host(task: Task) -> Task:
    return task if task.warm is None else replace(task, warm=task.warm.on_host())
