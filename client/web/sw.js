/** Keeps the page's own files, so that it opens without a network and can say that the server is away. */

const SHELL = "sayso-shell-9";
const FILES = [
  "/", "app.js", "capture.worklet.js", "cards.css", "choices.js", "code_block.js", "commands.js", "devices.js", "dom.js",
  "drawer.js", "formulas.js", "frame.html", "glance.js", "hands_free.js", "highlight.js", "icon-192.png", "icon-512.png", "icon.svg",
  "icons.svg", "link.js", "manifest.webmanifest", "markdown.js", "near.js", "notices.js", "outbox.js", "pairing.js", "pictures.js",
  "playback.worklet.js", "presence.js", "qr.js", "requests.js", "resample.js", "runs.js", "server.js",
  "kept.js", "settings.js", "sight.js", "sound.js", "style.css", "talker.js", "talking.js", "turn_tools.js", "typing.js", "uploads.js",
  "vendor/marked.esm.js", "vendor/temml.min.js", "view.js", "visible.js",
  "wire.js",
];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(SHELL).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches.keys()
      .then((names) => Promise.all(names.filter((name) => name !== SHELL).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

/** The network first, so that an updated server brings its updated page; what was kept if it is away. */
self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  const isShell = url.origin === location.origin && (url.pathname === "/" || FILES.includes(url.pathname.slice(1)));
  if (event.request.method !== "GET" || !isShell) return;
  event.respondWith(
    fetch(event.request)
      .then((answer) => {
        if (answer.ok) {
          const copy = answer.clone();
          event.waitUntil(caches.open(SHELL).then((cache) => cache.put(url.pathname, copy)));
        }
        return answer;
      })
      .catch(() => caches.match(url.pathname).then((kept) => kept ?? Response.error())),
  );
});

/** A notification of the page's was tapped: the page comes to the front. */
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(
    self.clients.matchAll({ type: "window" }).then(([page]) => (page ? page.focus() : self.clients.openWindow("/"))),
  );
});
