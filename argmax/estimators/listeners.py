"""scikit-learn's own callbacks (``set_callbacks``, since 1.9), wherever they can be imported.

Its API is marked experimental, so all contact with it is here: a mixin, a decorator for the method that
fits, and a bridge that turns our ``Progress`` into its tasks. Older versions get empty stand-ins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, final

from ..records import Floats
from ..solvers import Progress

__all__ = ["Bridge", "CallbackSupportMixin", "with_callbacks"]

Method = TypeVar("Method", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _managed
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    _managed = None


def with_callbacks(method: Method) -> Method:
    """Run a method that fits so that scikit-learn's callbacks are torn down whatever happens."""
    return method if _managed is None else _managed(method)


@final
class Bridge:
    """Tells scikit-learn's callbacks about every pass; True from one of them stops the fit."""

    def __init__(
        self, estimator: Any, X: Any, y: Any, attributes: Callable[[Floats], dict[str, Any]]
    ) -> None:
        self.estimator, self.X, self.y, self.attributes = estimator, X, y, attributes
        self.context = None
        if hasattr(estimator, "_init_callback_context"):
            self.context = estimator._init_callback_context(max_subtasks=None)
            self.context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    @property
    def listening(self) -> bool:
        """Whether there is anybody to tell: weights that nobody looks at need not be made."""
        return self.context is not None and bool(getattr(self.estimator, "_skl_callbacks", None))

    def __call__(self, progress: Progress) -> bool:
        assert self.context is not None
        task = self.context.subcontext(task_name="pass")
        task.call_on_fit_task_begin(estimator=self.estimator, X=self.X, y=self.y)
        return bool(
            task.call_on_fit_task_end(
                estimator=self.estimator,
                X=self.X,
                y=self.y,
                reconstruction_attributes=lambda: self.attributes(progress.w),
            )
        )

    def close(self) -> None:
        """The end of the fit itself."""
        if self.context is not None:
            self.context.call_on_fit_task_end(
                estimator=self.estimator, X=self.X, y=self.y, reconstruction_attributes={}
            )
