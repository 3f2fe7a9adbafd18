"""Files that are damaged at random."""

from hypothesis import strategies as st


@st.composite
def damaged(draw: st.DrawFn, data: bytes, splinters: st.SearchStrategy[bytes]) -> bytes:
    """Draw a file of which up to three parts are lost, replaced by a splinter, or repeated."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        end = at + draw(st.integers(0, 20))
        part = draw(splinters | st.just(data[at : end + 20]))
        data = data[:at] + part + data[end:]
    return data
