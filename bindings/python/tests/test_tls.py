"""Connections that are protected by TLS."""
import asyncio
import os
import pathlib
import ssl
import subprocess
import threading

import support
from support import PATIENCE_S, WithDaemon

import spindle
from spindle import Service, sync


def pki(folder, *arguments):
    subprocess.run([str(support.BUILD / "tools" / "spmonitor"), "pki", *arguments], cwd=folder, check=True,
                   capture_output=True, timeout=PATIENCE_S)


# Made by `openssl req -x509`: one key, with a certificate without a name of Spindle, and one with two.
KEY = """-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYuBV4e7Ub9ZGayRB
W4Jy1o+1F3bheKNGyCmro83KIPyhRANCAAQ3sAihTL4xsc1gbo8jjB8OuOCdc2P7
ZhpAYtyb7qI3Pb6nSB/jJGfSiHgyKjhsE+2+P2u1Gey08uEuAWo6GJIE
-----END PRIVATE KEY-----
"""
WITHOUT_NAME = """-----BEGIN CERTIFICATE-----
MIIBejCCAR+gAwIBAgIUEJLDtH6RN4A1HlGL3sS9lzMEc0kwCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGbm9ib2R5MCAXDTI2MTEzMDE1MDkzMVoYDzIxMjYxMTA2MTUw
OTMxWjARMQ8wDQYDVQQDDAZub2JvZHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AAQ3sAihTL4xsc1gbo8jjB8OuOCdc2P7ZhpAYtyb7qI3Pb6nSB/jJGfSiHgyKjhs
E+2+P2u1Gey08uEuAWo6GJIEo1MwUTAdBgNVHQ4EFgQUTHpXlhvCUvsOQn6FMdLn
mLAHxeIwHwYDVR0jBBgwFoAUTHpXlhvCUvsOQn6FMdLnmLAHxeIwDwYDVR0TAQH/
BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAwuLFU1hgUfvmATcz/UDli2R+un2T
IzJPPQiazIxu2HUCIQCBKcnc9y7tL3lOGpQodt9NSmwS7hf2CgGVfdES1rxZPw==
-----END CERTIFICATE-----
"""
WITH_TWO_NAMES = """-----BEGIN CERTIFICATE-----
MIIBxTCCAWugAwIBAgIUN91S+2nodJYUZw7BiUJ3R533Cq8wCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHc2V2ZXJhbDAgFw0yNjExMzAxNTA5MzFaGA8yMTI2MTEwNjE1
MDkzMVowEjEQMA4GA1UEAwwHc2V2ZXJhbDBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABDewCKFMvjGxzWBujyOMHw644J1zY/tmGkBi3Jvuojc9vqdIH+MkZ9KIeDIq
OGwT7b4/a7UZ7LTy4S4BajoYkgSjgZwwgZkwHQYDVR0OBBYEFEx6V5YbwlL7DkJ+
hTHS55iwB8XiMB8GA1UdIwQYMBaAFEx6V5YbwlL7DkJ+hTHS55iwB8XiMA8GA1Ud
EwEB/wQFMAMBAf8wRgYDVR0RBD8wPYYdc3BpbmRsZTovL3RyYWRpbmcvY2xpZW50
L2ZlZWSGHHNwaW5kbGU6Ly9vdGhlcnMvY2xpZW50L2ZlZWQwCgYIKoZIzj0EAwID
SAAwRQIgH7fdqInBcYm4Iq2EkNL3zC3yKPgUgKQSrqz71P1wr7cCIQDUBUEdg5gZ
c0ocGEKZte20KoJNfgwxYIQvTkRgQi9XgQ==
-----END CERTIFICATE-----
"""

# The key by `openssl pkey -aes256`, and in the form that it had before, by `openssl ec -aes128`.
ENCRYPTED = ("""-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgB8ePwmNrdtwICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEENwgT6NR/k+Q58Uvt+hbReUEgZBC
RKJkY36FO0eD0/Nd2v1TEVXFJ4fZ2dSr4mWEukMmBl2KjGpuiadoKlec2c8DbYuV
rICxMzc7o32Fyr73wnKofemVS5uyXBmV+ukKOdksh2FllpDLJJO9pnt/tYSAcgex
xeQI/3NnHEVWKSD08WutpSONyRAJdcyEpK1yiM47vXtDV3WcOoDODL9PgYdXA2U=
-----END ENCRYPTED PRIVATE KEY-----
""", """-----BEGIN EC PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-128-CBC,F48C7E9E90F9CC36016216F15DFF7845

mfptowAJfpPLeT2aGPF5VGWmtENkhwCRpXjgYEVoEEZEF8jOsIliknZHByOTkPB3
LO6FyyE9Y+N5wOD9M9+7BSWvhwikTFXgLcA27Q745sgTbzgLsAdc/P/RPHjDGXkJ
iS5I0oTVLTttdIUrltMiOm3NztMZ1RSCyHvBUv2GYgI=
-----END EC PRIVATE KEY-----
""")


class WithTls(WithDaemon):
    def make_settings(self, folder):
        pki(folder, "init", "trading")
        for who in (("a",), ("--client", "feed"), ("--operator", "anna")):
            pki(folder, "issue", "trading.ca", *who)
        pki(folder, "trust", "trading.ca")
        os.mkdir(folder + "/others")
        pki(folder + "/others", "init", "others")
        pki(folder + "/others", "issue", "others.ca", "--client", "feed")
        pki(folder + "/others", "issue", "others.ca", "b")
        pki(folder + "/others", "trust", "others.ca")
        return [("tls.bundle", f'"{folder}/a.pem"'), ("listen.clients", '["tls:127.0.0.1:0"]'),
                ("daemon.cluster", '"trading"')]

    def setUp(self):
        super().setUp()
        self.port = self.daemon._tcp_address.rpartition(":")[2]

    def bundle(self, name):
        return f"{self._folder.name}/{name}"

    def bundle_of(self, *names):
        """With what is in these."""
        path = pathlib.Path(self.bundle("several.pem"))
        path.write_text("".join(pathlib.Path(self.bundle(each)).read_text() for each in names))
        return str(path)


class Protected(WithTls):
    async def test_carries_messages(self):
        async with spindle.connect(f"tls:127.0.0.1:{self.port}", name="ann",
                                   tls_bundle=self.bundle("feed.pem")) as ann:
            await ann.join("den", timeout=PATIENCE_S)
            contents = [os.urandom(size) for size in (3_000_000, 0, 100, 256 << 10, 1 << 20, 5_000_000)]
            for content in contents:
                await ann.multicast(Service.AGREED, "den", content)
            self.assertEqual(contents, [each.payload for each in await self.messages(ann, len(contents))])
            self.assertFalse(await ann.drain(PATIENCE_S))

    async def test_carries_content_of_bulk_channels(self):
        """By a second connection, which is protected, too; in both forms."""
        content = os.urandom((20 << 20) + 3)
        options = {"tls_bundle": self.bundle("feed.pem"), "bulk": True}
        source = await spindle.connect(f"tls:127.0.0.1:{self.port}", name="source", **options)
        self.addAsyncCleanup(source.close)

        def receive():
            with sync.connect(f"tls:127.0.0.1:{self.port}", name="member", **options) as member:
                member.join("den", timeout=PATIENCE_S)
                joined.set()
                event = None
                while not isinstance(event, spindle.BulkReceived):
                    event = member.receive(timeout=PATIENCE_S)
                    if isinstance(event, spindle.BulkOffered):
                        member.bulk.accept(event.channel, spindle.BulkSink.memory())
                return event
        joined = threading.Event()
        receiving = asyncio.get_running_loop().run_in_executor(None, receive)
        await asyncio.get_running_loop().run_in_executor(None, joined.wait, PATIENCE_S)
        await source.bulk.offer("den", spindle.BulkSource.bytes(content))
        received = await receiving
        self.assertIsNone(received.code, received.text)
        self.assertEqual(content, received.content)

    async def test_refuses_daemons_of_others(self):
        for bundle in ("others/feed.pem", "nothing.pem", ""):
            with self.assertRaises(spindle.NotConnected, msg=bundle) as caught:
                await spindle.connect(f"tls:127.0.0.1:{self.port}", tls_bundle=bundle and self.bundle(bundle))
            self.assertEqual(spindle.Code.TLS_FAILED, caught.exception.code)

    async def test_refuses_who_is_no_daemon(self):
        """With a certificate of the same cluster."""
        await self.refuse(self.bundle("feed.pem"), self.bundle("feed.pem"), "purpose|not that of a daemon")

    async def test_refuses_daemons_of_another_cluster(self):
        """Although the CA that has signed their certificate is trusted."""
        both = self.bundle_of("feed.pem", "others/others.crt")
        await self.refuse(self.bundle("others/b.pem"), both, 'cluster "others", and this client\'s of "trading"')
        async with spindle.connect(f"tls:127.0.0.1:{self.port}", tls_bundle=both) as ann:
            self.assertTrue(ann.is_open)

    async def test_has_one_name_of_its_own(self):
        """Nobody would know otherwise of which cluster a daemon has to be."""
        for certificate in (WITHOUT_NAME, WITH_TWO_NAMES):
            pathlib.Path(self.bundle("own.pem")).write_text(certificate + KEY, encoding="ascii")  # noqa: ASYNC240
            bundle = self.bundle_of("own.pem", "trading.crt")
            for connect in (spindle.connect, lambda *to, **how: asyncio.to_thread(sync.connect, *to, **how)):
                with self.assertRaisesRegex(spindle.NotConnected, "no name of Spindle") as caught:
                    await connect(f"tls:127.0.0.1:{self.port}", tls_bundle=bundle)
                self.assertEqual(spindle.Code.TLS_FAILED, caught.exception.code)

    async def test_nobody_is_asked_for_a_password(self):
        """Else the loop would stand still until somebody says one."""
        for key in ENCRYPTED:
            pathlib.Path(self.bundle("own.pem")).write_text(WITHOUT_NAME + key, encoding="ascii")  # noqa: ASYNC240
            bundle = self.bundle_of("own.pem", "trading.crt")
            for connect in (spindle.connect, lambda *to, **how: asyncio.to_thread(sync.connect, *to, **how)):
                with self.assertRaisesRegex(spindle.NotConnected, "key is encrypted; `openssl pkey") as caught:
                    await connect(f"tls:127.0.0.1:{self.port}", tls_bundle=bundle)
                self.assertEqual(spindle.Code.TLS_FAILED, caught.exception.code)

    async def refuse(self, theirs, ours, text):
        """A server with one bundle is refused by clients with the other."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(theirs)
        context.set_alpn_protocols(["spindle-client/1"])
        server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0, ssl=context)
        address = f"tls:127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with self.assertRaisesRegex(spindle.NotConnected, text) as caught:
            await spindle.connect(address, tls_bundle=ours)
        self.assertEqual(spindle.Code.TLS_FAILED, caught.exception.code)
        with self.assertRaisesRegex(spindle.NotConnected, text):
            await asyncio.to_thread(sync.connect, address, tls_bundle=ours)
        server.close()

    async def test_without_a_certificate_wants_a_token(self):
        with self.assertRaises(spindle.Error):
            await spindle.connect(f"tls:127.0.0.1:{self.port}", tls_bundle=self.bundle("trading.crt"))
        with self.assertRaises(spindle.AccessDenied) as caught:
            await spindle.connect("tcp:127.0.0.1:1", token="spindle-token-" + "0" * 64)
        self.assertEqual(spindle.Code.TOKEN_EXPOSED, caught.exception.code)
        with self.assertRaises(spindle.BadArgument):
            await spindle.connect(f"tls:127.0.0.1:{self.port}", token="secret")

    async def test_is_taken_up_again_on_another_stream(self):
        """Cut in the middle: nothing is lost or doubled."""
        ann = await spindle.connect(f"tls:127.0.0.1:{self.port}", name="ann", tls_bundle=self.bundle("feed.pem"))
        self.addAsyncCleanup(ann.close)
        await ann.join("den", timeout=PATIENCE_S)

        async def send():
            for i in range(2000):
                await ann.multicast(Service.AGREED, "den", str(i).encode() + b" " * 5000)
                if i % 500 == 250:
                    ann._link._transport.abort()
                await asyncio.sleep(0)
        sender = asyncio.ensure_future(send())
        got, again = [], []
        while len(got) < 2000:
            event = await ann.receive(timeout=PATIENCE_S)
            if isinstance(event, spindle.Message):
                got.append(int(event.payload))
            elif isinstance(event, spindle.Reconnected):
                again.append(event.resumed)
        await sender
        self.assertEqual(list(range(2000)), got)
        self.assertTrue(again and all(again))
