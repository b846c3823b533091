"""A tracker of one torrent: tells whoever asks who has asked before. Runs until it is killed."""

import http.server
import ipaddress
import sys
import urllib.parse

peers = set()


class Announce(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if not self.path.startswith("/announce?"):
            return self.send_error(404)
        asked = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query, encoding="latin-1")
        own = ipaddress.ip_address(self.client_address[0]).packed + int(asked["port"][0]).to_bytes(2, "big")
        others = b"".join(sorted(peers - {own}))
        peers.add(own)
        answer = b"d8:intervali1e12:min intervali1e5:peers%d:%se" % (len(others), others)
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    with http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Announce) as server:
        print("ready", flush=True)
        server.serve_forever()
