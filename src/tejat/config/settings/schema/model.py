"""Settings of models and requests."""

from tejat.config.settings import parsers
from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.merge import last_wins, merge_by_name, without_project
from tejat.config.settings.schema.spec import SettingSpec

MODEL_SETTINGS = (
    SettingSpec("model_name", SettingKey("model.name", "model"), SettingValue.string, must_be_valid=True, is_text=True),
    SettingSpec("fallback_model", SettingKey("model.fallback"), SettingValue.string, is_text=True),
    SettingSpec("base_url", SettingKey("model.baseUrl"), SettingValue.url, without_project(last_wins)),
    SettingSpec("prices", SettingKey("model.prices"), parsers.parse_price, without_project(merge_by_name)),
    SettingSpec("catalogue_url", SettingKey("models.catalogueUrl"), SettingValue.url, without_project(last_wins)),
    SettingSpec("shows_gemma", SettingKey("experimental.gemma"), SettingValue.boolean),
    SettingSpec("max_session_turns", SettingKey("model.maxSessionTurns", "maxSessionTurns"), SettingValue.limit),
    SettingSpec("max_attempts", SettingKey("general.maxAttempts"), parsers.parse_attempts),
    SettingSpec(
        "compression_threshold",
        SettingKey(
            "model.compressionThreshold",
            "model.chatCompression.contextPercentageThreshold",
            "chatCompression.contextPercentageThreshold",
        ),
        SettingValue.fraction,
    ),
    SettingSpec(
        "loop_detection",
        SettingKey("model.disableLoopDetection"),
        parsers.parse_negated_boolean,
        without_project(last_wins),
    ),
)
