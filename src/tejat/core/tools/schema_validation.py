"""Validation of arguments against external JSON Schemas."""

from collections.abc import Mapping
from typing import NoReturn, cast

import jsonschema_rs

from tejat.core.messages.types import JsonObject
from tejat.core.tools.schema import NOT_AN_OBJECT


def validation_problem(arguments: object, schema: JsonObject) -> str | None:
    """The problem with the arguments, naming the field; None if they are valid.

    A schema that cannot be compiled accepts everything: a mistake of a server must not block every call of its tool.
    The draft is that of `$schema`, by default draft 7.
    """
    if not isinstance(arguments, Mapping):
        return NOT_AN_OBJECT
    try:
        validator = _validator(schema)
    except ValueError:
        return None
    given = dict(cast("Mapping[str, object]", arguments))
    try:
        return ", ".join(_format_error(error) for error in validator.iter_errors(given)) or None
    except ValueError as error:
        return f"params cannot be written as JSON: {error}"


def schema_problem(schema: JsonObject) -> str | None:
    """The reason why a schema cannot be compiled, or None."""
    try:
        _validator(schema)
    except ValueError as error:
        return str(error).partition("\n")[0]
    return None


def _validator(schema: JsonObject) -> jsonschema_rs.Validator:
    """Raises ValueError for a schema that cannot be compiled."""
    dialect = jsonschema_rs.validator_cls_for(dict(schema)) if "$schema" in schema else jsonschema_rs.Draft7Validator
    return dialect(dict(schema), validate_formats=False, retriever=_refuse_reference)


def _refuse_reference(uri: str) -> NoReturn:
    """Validation must never reach the network."""
    raise ValueError(f"references to other documents are not followed: {uri}")


def _format_error(error: jsonschema_rs.ValidationError) -> str:
    where = "/".join(["params", *(str(step) for step in error.instance_path)])
    match error.kind:
        case jsonschema_rs.ValidationErrorKind.Required(property=name):
            return f"{where} must have required property {_quote(name)}"
        case jsonschema_rs.ValidationErrorKind.Type(types=types):
            return f"{where} must be {' or '.join(types)}"
        case _:
            return f"{where}: {error.message}"


def _quote(name: str) -> str:
    return f"'{name.strip(chr(34))}'"
