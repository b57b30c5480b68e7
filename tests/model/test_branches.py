"""Both ways of attending from branches say the same."""

import pytest
import torch

from model.branches import attend_at_once, attend_in_tiles


@pytest.mark.parametrize(("past", "read", "count"), [(70, 0, 9), (70, 5, 4), (1, 3, 1), (0, 2, 3)])
def test_attending_in_tiles_is_attending_at_once(past: int, read: int, count: int) -> None:
    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))

    branches, groups, each, size = 3, 2, 3, 16
    unseen = torch.ones(count, read + count, dtype=torch.bool).triu(read + 1)
    given = (
        random(branches, count, groups * each, size),
        *random(2, groups, past, size),
        *random(2, branches, groups, read + count, size),
        unseen,
    )
    torch.testing.assert_close(attend_in_tiles(*given), attend_at_once(*given), atol=1e-5, rtol=0)
