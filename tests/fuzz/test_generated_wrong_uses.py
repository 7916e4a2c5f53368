"""Thousands of wrong uses, no two alike (wrong_uses.py): each gives one of the documented classes, and names what is wrong by the
user's name for it.
"""
import numpy as np
import pytest

from pyscan.errors import AdvancedIndexingError, MissingInputError, NotScalarConstantError, UnusedInputError
from tests.fuzz.wrong_uses import FAMILIES, all_uses

AxisError = np.exceptions.AxisError if hasattr(np, "exceptions") else np.AxisError
DOCUMENTED = {
    AdvancedIndexingError, AssertionError, AttributeError, AxisError, IndexError, KeyError, MissingInputError, NotImplementedError,
    NotScalarConstantError, OverflowError, RuntimeError, TypeError, UnusedInputError, ValueError, ZeroDivisionError, np.linalg.LinAlgError,
}  # fmt: skip


def fault(use, texts):
    """What is wrong with how a wrong use is refused; None if nothing."""
    try:
        use()
    except Exception as error:
        message = "\n".join([*map(str, error.args), str(error), *getattr(error, "__notes__", [])])
        if type(error) not in DOCUMENTED:
            return f"{type(error).__name__} is not documented: {message}"
        return None if any(text in message for text in texts) else f"none of {texts} is in the message of {type(error).__name__}: {message}"
    return "it was not refused"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_each_is_refused_by_a_documented_class_and_names_what_is_wrong(family):
    uses = [(identity, use, texts) for identity, use, texts in family() if texts is not None]
    found = {identity: fault(use, texts) for identity, use, texts in uses}
    assert not {identity: text for identity, text in found.items() if text}


def test_there_are_more_than_two_thousand_and_no_two_are_alike():
    identities = [identity for identity, _, _ in all_uses()]
    assert len(identities) == len(set(identities)) > 4000
