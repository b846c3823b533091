"""What the package calls things is what the library calls them."""
import asyncio
import pickle
import ssl
import typing
import unittest

import spindle
from spindle import _address, _engine, _events, _tls


class Codes(unittest.TestCase):
    def test_are_those_of_the_library(self):
        table = {name.upper(): (number, text) for name, number, text in _engine.errors()}
        ours = {code.name: (code.value, code.text) for code in spindle.Code if code is not spindle.Code.UNKNOWN_ERROR}
        self.assertEqual(table, ours)

    def test_later_ones_are_unknown(self):
        self.assertIs(spindle.Code.UNKNOWN_ERROR, spindle._codes.code_of(60000))

    def test_errors_are_those_of_python_too(self):
        for code, kind in ((spindle.Code.TIMED_OUT, TimeoutError), (spindle.Code.TIMED_OUT, asyncio.TimeoutError),
                           (spindle.Code.NOT_CONNECTED, ConnectionError), (spindle.Code.WOULD_BLOCK, BlockingIOError),
                           (spindle.Code.ACCESS_DENIED, PermissionError), (spindle.Code.BAD_ARGUMENT, ValueError)):
            error = spindle._errors.error_of(code)
            self.assertIsInstance(error, kind)
            self.assertIsInstance(error, spindle.Error)
            self.assertEqual((code, code.text, code.text), (error.code, error.text, str(error)))

    def test_errors_can_be_pickled(self):
        for error in (spindle._errors.error_of(spindle.Code.TIMED_OUT, "too late"), spindle._errors.error_of(
                spindle.Code.FILE_EXISTS), spindle.NotTakenError(spindle.NotTaken(3, True))):
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(error), error.code, error.text), (type(again), again.code, again.text))


class Names(unittest.TestCase):
    def test_all_is_there(self):
        for name in spindle.__all__:
            self.assertTrue(hasattr(spindle, name), name)

    def test_fields_have_types(self):
        for each in vars(_events).values():
            if isinstance(each, type) and hasattr(each, "__dataclass_fields__"):
                self.assertEqual(set(each.__dataclass_fields__), set(typing.get_type_hints(each)), each)

    def test_messages_are_made_by_the_library_only(self):
        with self.assertRaises(TypeError):
            spindle.Message()


class Addresses(unittest.TestCase):
    def test_forms(self):
        for text, expected in (("unix:/a/b", "/a/b"), ("/a/b", "/a/b"), ("tcp:host:1", "host:1"), ("host", "host:4803"),
                               ("tls:host", "host:4803"), ("[::1]:7", "::1:7"), ("tls:[::1]", "::1:4803")):
            self.assertEqual(expected, str(_address.parse(text)))
        self.assertTrue(_address.parse("tls:host").is_protected)
        self.assertFalse(_address.parse("tcp:host").is_protected)

    def test_what_is_none(self):
        for text in ("unix:", "tcp:host:99999", "tcp:host:0", "tcp::1", "tcp:host:x", "[::1", "[::1]x", "tcp:host:1:2",
                     "/" + "x" * 200, "tcp:a b:1"):
            with self.assertRaises(spindle.Error, msg=text) as caught:
                _address.parse(text)
            self.assertEqual(spindle.Code.BAD_ADDRESS, caught.exception.code)


class Peer:
    """The other side of a connection by TLS."""

    def __init__(self, *uris, protocol="spindle-client/1"):
        self._uris, self._protocol = uris, protocol

    def selected_alpn_protocol(self):
        return self._protocol

    def getpeercert(self):
        return {"subjectAltName": [("URI", each) for each in self._uris] + [("DNS", "spindle")]}


class Daemons(unittest.TestCase):
    context = _tls.Context(ssl.PROTOCOL_TLS_CLIENT)  # of a client that has no certificate

    def test_have_a_name_of_one(self):
        for uri in ("spindle://trading/daemon/alpha", "spindle://trading/daemon/*", "spindle://a%20b/daemon/c"):
            _tls.check_daemon(Peer(uri), self.context)

    def test_others_have_not(self):
        good = "spindle://trading/daemon/alpha"
        for peer in (Peer(), Peer("spindle://trading/client/feed"), Peer("spindle://trading/daemon"), Peer(good, good),
                     Peer("https://trading/daemon/alpha"), Peer("spindle://trading/operator/anna"),
                     Peer(good, protocol=None), Peer(good, protocol="spindle-admin/1")):
            with self.assertRaises(spindle.NotConnected) as caught:
                _tls.check_daemon(peer, self.context)
            self.assertEqual(spindle.Code.TLS_FAILED, caught.exception.code)
