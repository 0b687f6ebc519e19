def start(
    model: Client,
    premises: Premises,
    care: Care,
) -> None: ...
