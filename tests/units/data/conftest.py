"""Files made of a few words."""

import pytest


@pytest.fixture
def file(tmp_path):
    """file("a,b\\n1,2\\n", "some.csv"): the path of a file with this content."""

    def write(content, name="table"):
        path = tmp_path / name
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return write
