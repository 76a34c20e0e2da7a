"""What a command that is refused prints."""


def refused(found: tuple[int, str, str]) -> str:
    """The message, after checking that it is the only line and the exit code is 2."""
    code, out, err = found
    assert (code, out) == (2, "")
    assert err.startswith("bayes-dp: error: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    return err.removeprefix("bayes-dp: error: ").rstrip()
