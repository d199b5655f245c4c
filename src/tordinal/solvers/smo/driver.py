"""Sequential minimal optimisation of the dual (11), over N-vectors.

One variable beta_ik = alpha_ik s_ik belongs to each row i and threshold k. With
a_i = sum_k beta_ik, h = K a and c_k = sum_i beta_ik the problem is

    min  1/2 a'Ka + 1/2 r |c|^2 - kink sum_ik s_ik beta_ik     with  beta_ik in its box

and the gradient is h_i + r c_k - kink s_ik: one vector h carries all thresholds, so a step reads
two kernel rows for any K. A step raises one variable (i, k) and lowers another (j, l) by as
much. Which pairs (k, l) are allowed is a matter of the coupling. Each row has one candidate to
raise and one to lower at a time: the threshold where its gradient is smallest or largest. Their
offsets from h are two more N-vectors, so choosing a pair and updating the gradient are two passes
over contiguous arrays, taken on the rows of a working set. ``docs/mathematics.md`` has the
derivation.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.engines.base import KernelMatrix
from tordinal.problem import Problem
from tordinal.reduction import signs
from tordinal.solvers.newton.square_root import SquareRoot
from tordinal.solvers.smo.steps import (
    CandidateGradients,
    candidate_gradients,
    shares,
    take_rounds,
    take_steps,
)
from tordinal.solvers.smo.warm_starts import State, WarmStarts, WorkingRows
from tordinal.solvers.smo.working_set import WorkingSet
from tordinal.solvers.solver import COARSE, GAP, HUGE_COST, Solution, Solver, Task, balanced
from tordinal.solvers.tuning import NEWTON
from tordinal.solvers.tuning import SMO as TUNING

__all__ = ["SMO"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

FINEST = 1e-11  # the least tolerance that is tried to close the duality gap


class SMO(Solver):
    """Solver of the piecewise linear losses with a kernel.

    `tol` bounds the largest violation of the optimality conditions by an allowed pair.

    Parameters
    ----------
    data : KernelMatrix
        Kernel values between the training rows.
    problem : Problem
        A problem with a piecewise linear loss and any coupling.
    """

    data: KernelMatrix
    coarse = COARSE

    def __init__(self, data: KernelMatrix, problem: Problem):
        super().__init__(data, problem)
        self._work = WorkingSet(
            data, TUNING.whole_rows if problem.coupling.any_pair else TUNING.whole_rows_by_pairs
        )
        self._root: SquareRoot | None = None  # once a problem has turned out to be hard
        self._tried_root = False
        with np.errstate(over="ignore"):  # `run` raises an error about such a kernel
            self._diagonal = data.diagonal.astype(np.float32)
        self._starts = WarmStarts(data, self.problem)

    @classmethod
    def handles(cls, problem: Problem, data: Any) -> bool:
        return not (data.in_features or problem.smooth)

    def run(self, task: Task) -> Solution:
        if self._root is not None:
            return self._root.run(task)
        if (
            task.warm is None
            and len(task.y) >= TUNING.sampled_from
            and self.problem.coupling.any_pair
        ):
            task = replace(task, warm=self._solve_sample(task))
        self._work.begin(np.flatnonzero(task.cost > 0))
        coupling, shape = self.problem.coupling, self.problem.shape
        at, n = self._starts.state_for(task), len(task.y)
        r, steps, rounds, stalled = coupling.r, 0, 0, 0
        swapped = task.warm is not None and np.array_equal(task.warm.cost, task.cost)
        # After a swap the objective is about what it was. Violations within the tolerance weigh at
        # most tol times all costs, which matters only where the objective is much less than those.
        last = task.warm.objective if task.warm is not None and swapped else 0.0
        doubtful = float(task.cost.sum()) * len(at.c) > GAP * last
        if swapped and coupling.any_pair:
            # A few labels were swapped: what moved in the last training moves now.
            steps += self._run(at, -1, -1, task.tol, task.limit)
        tol = task.tol
        while True:
            view = candidate_gradients(at.h, r * at.c, task.y, task.cost, at.beta, *shape, -1, -1)
            raised, lowered, violation = coupling.worst_pair(at.c, view.least, view.most)
            if steps >= task.limit:
                break
            if violation <= tol:
                # With a huge cost even a small violation weighs much.
                if not (doubtful and self._gap_too_large(task, at, view)):
                    break
                if tol <= FINEST:
                    tol = 0.0  # no smaller violation can be reached: not converged
                    break
                tol *= 0.1
                continue
            rounds, work = rounds + 1, steps + TUNING.steps_per_round * rounds
            if stalled > 1 or work >= TUNING.max_steps + TUNING.max_steps_per_row * n:
                break
            if not self._tried_root and work >= TUNING.root_after + TUNING.root_after_per_row * n:
                self._tried_root = True
                self._root = SquareRoot.of(self.data, self.problem)
                if self._root is not None:
                    here = self._solution(task, at, view, steps, violation)
                    rest = replace(task, warm=here, limit=task.limit - steps)
                    finished = self._root.run(rest)
                    return replace(finished, n_iter=finished.n_iter + steps)
            if raised >= 0 and not self._work.whole:
                view = candidate_gradients(
                    at.h, r * at.c, task.y, task.cost, at.beta, *shape, raised, lowered
                )
            self._work.take(self._rows_to_enter(view))
            # A working set of some rows is replaced before it is solved to the end.
            many = not self._work.whole or (raised >= 0 and raised < lowered)
            # After a swap there is little to do, and the rows of the last training are in the set.
            goal = (
                max(tol, TUNING.round_share * violation)
                if many and not (swapped and raised < 0)
                else tol
            )
            taken = self._run(at, raised, lowered, goal, task.limit - steps)
            steps += taken
            # Loops add up gradients in different orders. Where the violation is the tolerance to
            # the last bit they may find nothing to do, and nothing will change.
            stalled = 0 if taken else stalled + 1
            task.report(steps, violation)
        return self._solution(task, at, view, steps, violation, tol)

    def _gap_too_large(self, task: Task, at: State, view: CandidateGradients) -> bool:
        """Whether the duality gap is still too large."""
        t = self.problem.coupling.thresholds(at.c, view.least, view.most)
        norm = float(at.beta.sum(axis=1) @ at.h)
        value = self.problem.objective(task.y, task.cost, at.h, norm, t)
        dual = -self._starts.dual(at.beta, at.h, signs(task.y, len(t)))
        return task.gap_too_large(value - dual, value)

    def _solve_sample(self, task: Task) -> Solution | None:
        """A rough solution for every 16th row with a cost, with costs scaled up to represent all.

        It shows at which bound most variables of the other rows will be, and one product with the
        kernel brings them there.
        """
        used = np.flatnonzero(task.cost > 0)
        if len(used) < TUNING.sampled_from:
            return None
        cost = np.zeros_like(task.cost)
        cost[used[:: TUNING.sample_stride]] = (
            TUNING.sample_stride * task.cost[used[:: TUNING.sample_stride]]
        )
        return self.run(replace(task, cost=cost, tol=max(task.tol, TUNING.sample_tol)))

    def _solution(
        self,
        task: Task,
        at: State,
        view: CandidateGradients,
        steps: int,
        violation: float,
        tol: float = 0.0,
    ) -> Solution:
        t = self.problem.coupling.thresholds(at.c, view.least, view.most)
        a, u = shares(task.y, task.cost, at.beta)
        h = at.h
        if float(task.cost.max()) > HUGE_COST:
            a = a - a.mean()  # updated values, and the sum of a, are lost in rounding
            h = self.data.times(a)
        else:
            a = balanced(a)
        value = self.problem.objective(task.y, task.cost, h, float(a @ h), t)
        if h is not at.h:
            carried = self.problem.objective(task.y, task.cost, at.h, float(a @ at.h), t)
            if task.gap_too_large(value - carried, value):
                violation = max(violation, (value - carried) / value)
        self._starts.last = (u, at) if h is at.h else None
        return Solution(
            h, t, value, a, task.y, task.cost, u, n_iter=steps, violation=max(violation, 0.0),
            converged=bool(violation <= 1.001 * tol),
        )  # fmt: skip

    def refinement(self, n_rows: int) -> tuple[float, int] | None:
        if n_rows > TUNING.refine_rows:
            return None
        if self._root is None:
            return TUNING.refine_tol, TUNING.refine_steps
        return NEWTON.refine_tol, TUNING.refine_steps

    # Steps -------------------------------------------------------------------------------------

    def _rows_to_enter(self, view: CandidateGradients) -> Index:
        """The rows that are most likely to move: the least to raise, and the largest to lower.

        The worst pair is among them, as it is the first of both.
        """
        half = TUNING.entering_rows // 2
        if self._work.whole or len(view.up) <= TUNING.entering_rows:
            return np.arange(len(view.up))
        up, low = np.argpartition(view.up, half)[:half], np.argpartition(-view.low, half)[:half]
        return np.union1d(up, low)

    def _run(self, at: State, raised: int, lowered: int, goal: float, limit: float) -> int:
        """Take steps on the working set and update all rows; return how many were taken."""
        index = self._work.index
        if len(index) == 0:
            return 0
        part = at.part(index, self.problem)
        n, r, coupling = len(index), self.problem.coupling.r, self.problem.coupling
        chunk = int(np.clip(TUNING.chunk_work // n, 50, 2_000 + 10 * n))
        before = part.beta.sum(axis=1)
        if raised >= 0 and coupling.pairs(len(at.c))[raised, lowered]:
            taken = take_rounds(
                self._work.matrix, self._diagonal[index], part.h, part.beta, part.lower, part.upper,
                part.target, at.c, r, coupling.pairs(len(at.c)), goal, TUNING.pair_share,
                int(min(TUNING.pair_chunk_factor * chunk, limit)),
            )  # fmt: skip
        else:
            taken = self._one_pair(at, part, raised, lowered, goal, int(min(chunk, limit)))
        if taken:
            change = part.beta.sum(axis=1) - before
            moved = np.flatnonzero(change)
            at.beta[index] = part.beta
            at.h += self.data.combine(index[moved], change[moved])
        return taken

    def _one_pair(
        self, at: State, part: WorkingRows, raised: int, lowered: int, goal: float, most: int
    ) -> int:
        """Steps at one pair of thresholds, or with -1 at any."""
        coupling = self.problem.coupling
        return take_steps(
            self._work.matrix, self._diagonal[self._work.index], part.h, part.beta, part.lower,
            part.upper, part.target, at.c, coupling.r, raised, lowered,
            coupling.room(at.c, raised, lowered), goal, most,
        )  # fmt: skip
