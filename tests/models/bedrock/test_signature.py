import pytest

from tejat.models.bedrock.signature import AwsCredentials, read_credentials, sign_request

HOST = "https://bedrock-runtime.us-east-1.amazonaws.com"
URL = f"{HOST}/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream"
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


@pytest.mark.parametrize(
    ("token", "names", "signature"),
    [
        (
            "",
            "content-type;host;x-amz-date",
            "5a46f08453d7b21f9993c20649bfc1dcdcc6023f8fd2baeb46788261fe40bc5e",
        ),
        (
            "session-token",
            "content-type;host;x-amz-date;x-amz-security-token",
            "c73acfa1565c2b97b08929c86bd4da04d5dcc6ef15668d40f3b9fd7d345fbe50",
        ),
    ],
)
def test_a_signature_as_botocore_makes_it(token: str, names: str, signature: str) -> None:
    credentials = AwsCredentials("AKIDEXAMPLE", SECRET, token)
    timestamp = "20260102T030405Z"
    body = [b'{"a"', b":1}"]
    headers = sign_request(URL, body, credentials, region="us-east-1", service="bedrock", timestamp=timestamp)
    assert headers["authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/us-east-1/bedrock/aws4_request, "
        f"SignedHeaders={names}, Signature={signature}"
    )
    assert headers["x-amz-date"] == timestamp
    assert headers.get("x-amz-security-token", "") == token
    assert SECRET not in repr(credentials)


def test_credentials_of_the_environment() -> None:
    assert read_credentials({"AWS_ACCESS_KEY_ID": "a"}) is None
    given = {"AWS_ACCESS_KEY_ID": " a ", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": "c"}
    assert read_credentials(given) == AwsCredentials("a", "b", "c")
