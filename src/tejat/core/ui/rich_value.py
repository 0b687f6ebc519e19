"""Values that notebooks show as more than text."""

from tejat.core.frozen import Value


class RichValue(Value):
    """A value with the methods by which IPython and other notebooks find HTML and Markdown."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from tejat.notebook.display import value_html

        return value_html(self)

    def _repr_markdown_(self) -> str:
        from tejat.notebook.display import value_markdown

        return value_markdown(self)
