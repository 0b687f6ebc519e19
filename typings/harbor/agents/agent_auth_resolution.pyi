from collections.abc import Mapping

from harbor.models.model_api_format import ModelApiFormat

class ModelConnectionSpec:
    def __init__(
        self,
        *,
        default_api_format_by_provider: dict[str, ModelApiFormat] = ...,
        api_key_destination_names: dict[str, str] = ...,
        base_url_destination_names: dict[str, str | None] = ...,
    ) -> None: ...

class ResolvedModelConnection:
    provider: str | None
    candidate_base_url: str | None
    env: Mapping[str, str]

def parse_model_name(model_name: str, *, skip_model_parsing: bool = False) -> tuple[str | None, str]: ...
