"""The provider that tests ask."""

from collections.abc import Iterator

import pytest
from bodies import Provider, provider


@pytest.fixture
def scripted() -> Iterator[Provider]:
    with provider() as script:
        yield script
