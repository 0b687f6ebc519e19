def start(
    model: Client,
    setting: Setting,
    care: Care,
) -> None: ...
