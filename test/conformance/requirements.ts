/** One obligation of docs/PROTOCOL.md, as data. */
export interface Requirement {
  readonly id: string;
  /** Heading of the page it stands under. */
  readonly section: string;
  /** Who is bound. */
  readonly by: 'gateway' | 'client';
  readonly sentence: string;
}

/** Every obligation of docs/PROTOCOL.md in its own words, by heading, by who is bound, by id; `coverage.test.ts` holds the two equal. */
const OBLIGATIONS = {
  'Establishing a socket': {
    gateway: {
      'est.path':
        'The gateway MUST serve upgrades at one path, `/mcp` unless configured otherwise, and answer 404 at every other.',
      'est.method':
        'The gateway MUST answer a `GET` that is no upgrade with 426 and `Upgrade: websocket`, and every other method at that path with 405 and `Allow: GET`.',
      'est.refusal':
        'The gateway MUST refuse an upgrade before 101, with the status and the fixed body of the first fault: draining, overload, too many in a second, too many of one address, too many being verified, WebSocket headers, proxy headers, `Host`, `Origin`, subprotocol, token, too many sockets.',
      'est.handshake':
        'The gateway MUST refuse an upgrade without `Sec-WebSocket-Version: 13` or without a `Sec-WebSocket-Key` of 16 bytes in base64 with 400 and `Sec-WebSocket-Version: 13`.',
      'est.forwarded':
        'The gateway MUST refuse, where callers are anonymous, an upgrade that carries `Forwarded`, `X-Forwarded-*` or `Via` with 403.',
      'est.host': 'The gateway MUST refuse a `Host` that is not on its list with 403.',
      'est.origin':
        'The gateway MUST refuse an `Origin` that is `null` or not on its list with 403, and let an upgrade without one pass.',
      'est.early': 'The gateway MUST read frames that arrive together with the upgrade.',
      'est.subprotocol.select': 'The gateway MUST select exactly `mcp` where it is among the offers.',
      'est.subprotocol.none': 'The gateway MUST accept an upgrade that offers no subprotocol, and select none.',
      'est.subprotocol.other': 'The gateway MUST refuse offers without `mcp` with 400; names compare exactly.',
      'token.carriage':
        'The gateway MUST take a token from `Authorization: Bearer <token>` or, for those who cannot set headers, from the offered subprotocol `mcp.auth.<token>`, or a one-time [ticket](#tickets) in its place.',
      'token.twice': 'The gateway MUST refuse an upgrade that carries two tokens, two tickets, or both with 400.',
      'token.query':
        'The gateway MUST refuse an upgrade whose query has `token`, `access_token` or `jwt`, in any case or encoding, with 400.',
      'token.unechoed':
        'The gateway MUST NOT select the subprotocol that carries a token, nor write a token to any log.',
      'token.challenge':
        'The gateway MUST answer a missing or refused token with 401 and a `WWW-Authenticate: Bearer` that names `resource_metadata` and, for a refused one, why in a fixed text.',
      'token.metadata':
        'The gateway MUST serve the document that `resource_metadata` names (RFC 9728) without a token.',
      'token.scope':
        'The gateway MUST answer a good token that lacks a required scope with 403 and `error="insufficient_scope"`.',
      'token.keys': 'The gateway MUST answer 503, not 401, while it cannot get the keys to judge a token by.',
      'ticket.issue':
        'The gateway MUST answer a `POST` of a good Bearer token to `/tickets` behind its path with 201, `Cache-Control: no-store` and a ticket of 256 random bits that lives for `expiresIn` seconds.',
      'ticket.judged':
        'The gateway MUST judge a request for a ticket by the limits, `Host`, `Origin`, token and scopes as it does an upgrade, and refuse one with a body, unread, with 413.',
      'ticket.bounds':
        'The gateway MUST refuse a ticket with 429 to a principal that has 20 unspent, and with 503 where it can keep no more.',
      'ticket.anonymous': 'The gateway MUST answer 404 at that path where callers are anonymous.',
      'ticket.spend':
        "The gateway MUST take a ticket in the query of an upgrade for the token it was given for, exactly once, within its life and the token's.",
      'ticket.replicas':
        'The gateway MUST take a ticket that another replica gave, once over all of them, and answer 503 to a request for a ticket and to an upgrade with one while it cannot reach what they share.',
      'ticket.origin':
        'The gateway MUST refuse a ticket that comes with another `Origin` than it was asked for with, or with one where there was none, and it is spent.',
      'ticket.refused':
        'The gateway MUST answer a ticket that is unknown, spent, expired or from elsewhere with 401, in the same words for each.',
      'ticket.kept':
        'The gateway MUST NOT spend a ticket on an upgrade that it refuses for its limits in all or of its address, WebSocket headers, `Host`, `Origin`, subprotocol or for a second way to say who calls.',
      'ticket.secret': 'The gateway MUST NOT write a ticket to any log, nor to any answer but the one that gives it.',
      'ticket.cors':
        'The gateway MUST let pages at the origins on its list, and no others, read the answers at that path and send `Authorization` to it; a preflight of theirs is answered 204.',
      'est.browser.close':
        'The gateway MUST tell an upgrade with a listed `Origin` of a fault of its token or ticket by 101 and a close: 4401, 4403 where it lacks a scope, 4400 where it is carried wrongly, 1013 where it cannot be judged now, and 4429 over a limit of its address or principal.',
      'est.browser.unread':
        'The gateway MUST NOT read what comes on such a socket, nor count it as open, and ends the TCP connection within 1 s of its close frame.',
      'est.browser.bound': 'The gateway MUST refuse by HTTP, as without an `Origin`, while it tells 64 others so.',
      'cert.principal':
        'The gateway MUST take a caller whose client certificate the configuration names for its principal, until the certificate ends.',
      'cert.token':
        'The gateway MUST judge an upgrade that carries a token by the token alone, whatever certificate comes with it.',
      'cert.unknown':
        'The gateway MUST take nobody for a principal by a certificate that is unknown, untrusted or over: an upgrade is answered 401, a TCP connection ends unread.',
      'cert.resumption': 'The gateway MUST NOT resume a TLS session where clients have certificates.',
      'tls.reload': 'The gateway MUST use a new certificate for new connections, and leave the open ones alone.',
      'tls.misfit': 'The gateway MUST keep its certificate while what stands in its place does not fit.',
      'tls.first-line':
        'The gateway MUST end a TCP connection whose first line is no request or over 64 KiB, over TLS too.',
      'est.connections':
        "The gateway MUST refuse an upgrade with 503 while as many as it allows are being verified or open, and with 429 one over the principal's number of sockets.",
      'est.replicas':
        'The gateway MUST count the sockets of a principal over all replicas, and its own alone while it cannot reach what they share.',
      'est.rate':
        'The gateway MUST refuse an upgrade that begins over the rate in all with 503 and one over the rate of its address with 429, before its token is judged.',
      'est.address': 'The gateway MUST refuse an upgrade over the number of sockets of its address with 429.',
      'est.proxy':
        "The gateway MUST take for the address of a caller the peer's and, where the peer is a trusted proxy, the rightmost address of `X-Forwarded-For` that is none.",
      'est.overload':
        'The gateway MUST refuse upgrades with 503 while its event loop or memory is at its limit, and go on serving open sockets.',
      'est.headers':
        'The gateway MUST end a connection whose request headers do not end within 10 seconds, and refuse headers over 32 KiB with 431.',
      'est.retry-after': 'The gateway MUST send `Retry-After` with every 429 and 503 that refuses an upgrade.',
    },
    client: {
      'token.once': 'The client MUST carry its token in exactly one of these ways.',
      'ticket.fresh': 'The client MUST ask for a new ticket for each upgrade.',
    },
  },
  Frames: {
    gateway: {
      'ws.frame.text':
        'The gateway MUST send each JSON-RPC message, or the answers to a batch, as one text message of its own, and nothing that is not JSON-RPC.',
      'ws.frame.line': 'The gateway MUST NOT send a raw CR or LF, whatever an upstream wrote between its tokens.',
      'ws.frame.fragments': 'The gateway MUST read a fragmented message as one.',
      'ws.frame.binary': 'The gateway MUST close the socket with 1003 on a binary message.',
      'ws.frame.utf8': 'The gateway MUST close the socket with 1007 on text that is not UTF-8.',
      'ws.frame.size': 'The gateway MUST close the socket with 1009 on a message over `limits.maxMessage`.',
      'ws.frame.members':
        'The gateway MUST refuse with -32600 a message in which an object it reads has more than 10,000 members.',
      'ws.frame.deflate': 'The gateway MUST NOT negotiate permessage-deflate.',
      'ws.frame.schema':
        "The gateway MUST write each frame, but for an id null and what an upstream put there, as the schema of the session's revision has it.",
    },
    client: {
      'ws.frame.client':
        'The client MUST send each JSON-RPC message, or batch, as one text message; it may be fragmented and hold white space.',
    },
  },
  Eras: {
    gateway: {
      'era.first':
        'The gateway MUST take a socket for the era that its first request other than `ping` and `server/discover` opens, until it closes.',
      'era.other':
        'The gateway MUST answer the opening of the other era with -32600 on a handshake socket and with -32022 on a modern one, and leave the session as it was.',
      'era.probe':
        'The gateway MUST answer a probe, be it `server/discover` or a request of an era it does not serve there, and keep the socket open.',
    },
    client: {},
  },
  Handshake: {
    gateway: {
      'init.before':
        'The gateway MUST answer any other request before it with -32600, `ping` as ever, and keep the socket open.',
      'init.version': 'The gateway MUST answer with the revision asked for where it speaks it, else with its newest.',
      'init.capabilities':
        "The gateway MUST announce the capabilities of the upstreams in the principal's view and [the extension of its own](#token-life), and no others.",
      'init.wait': 'The gateway MUST NOT wait longer than 3 s for upstreams before it answers `initialize`.',
      'init.params':
        'The gateway MUST answer an `initialize` with wrong params with -32602, after which the client may send another.',
      'init.once': 'The gateway MUST answer a second `initialize` with -32600, and the session goes on.',
      'init.hold': 'The gateway MUST take what follows `initialize` only once its answer is queued, and then in order.',
      'init.quiet':
        'The gateway MUST NOT send list changes or log messages before `notifications/initialized`; what changed until then is told after it, once.',
    },
    client: {
      'init.first': 'The client MUST send `initialize` before any request but `ping`.',
      'init.initialized': 'The client MUST send `notifications/initialized` once it has the answer.',
    },
  },
  'Modern era': {
    gateway: {
      'modern.envelope.missing':
        'The gateway MUST answer a request without one of them with -32602, whatever came before it on the socket.',
      'modern.version':
        'The gateway MUST answer every request of a revision it does not speak with -32022 and `data: {"supported", "requested"}`.',
      'modern.discover':
        "The gateway MUST answer `server/discover` at any time with the modern revisions it speaks and the capabilities of the principal's view.",
      'modern.removed':
        'The gateway MUST answer `ping`, `logging/setLevel`, `resources/subscribe` and `resources/unsubscribe` with -32601.',
      'modern.result':
        'The gateway MUST put `resultType` into results and `ttlMs: 0` and `cacheScope: "private"` into lists and reads, where a handshake upstream did not.',
      'modern.resource':
        'The gateway MUST answer for a resource that is not found, also where its owner says so, with -32602.',
      'modern.listen.acknowledged':
        'The gateway MUST acknowledge a `subscriptions/listen` before it sends anything for it, without the URIs the principal may not read.',
      'modern.listen.own':
        "The gateway MUST send changes and updates to the listens that asked for them, each with the listen's id in `_meta`, and no others.",
      'modern.listen.once':
        'The gateway MUST subscribe at the owner once for all listens of a socket to one URI, and unsubscribe after the last.',
      'modern.listen.kept':
        'The gateway MUST subscribe again, while a listen wants it, where subscribing at the owner failed, and send one update once it holds.',
      'modern.listen.latest':
        'The gateway MUST leave subscribed at an owner only what open listens want, however fast they change.',
      'modern.listen.id': 'The gateway MUST take the id of a listen for in flight as long as the listen lasts.',
      'modern.listen.filter': 'The gateway MUST answer a listen without a filter with -32602.',
      'modern.listen.end':
        'The gateway MUST end a listen without an answer when the client cancels it, and with its result when the gateway shuts down.',
    },
    client: {
      'modern.envelope':
        'The client MUST put `io.modelcontextprotocol/protocolVersion` and `io.modelcontextprotocol/clientCapabilities` into `params._meta` of every request.',
    },
  },
  Ids: {
    gateway: {
      'id.bad': 'The gateway MUST answer a request under any other id with -32600 and id null.',
      'id.echo':
        'The gateway MUST answer under exactly the id it was sent, of the same type: `1` and `"1"` are two ids, 0 and `""` are ids.',
      'id.duplicate':
        'The gateway MUST answer a request under an id in flight with -32600 and id null, and leave the first one untouched.',
      'id.space': 'The gateway MUST keep the ids of each socket apart from those of every other socket and upstream.',
      'id.unasked': 'The gateway MUST ignore a response to nothing it asked.',
    },
    client: {
      'id.kind':
        'The client MUST use as an id a string of at most 1,024 bytes of UTF-8, or an integer within ±(2^53−1) written in digits alone.',
      'id.unique': 'The client MUST NOT use the id of a request in flight.',
      'id.fresh': 'The client SHOULD NOT use the id of a request it cancelled, or whose answer it did not see, again.',
    },
  },
  'Requests and errors': {
    gateway: {
      'err.answer':
        'The gateway MUST answer every request it read and that was not cancelled exactly once, and keep the socket open after an error.',
      'err.parse': 'The gateway MUST answer what is not JSON with -32700 and id null.',
      'err.invalid': 'The gateway MUST answer JSON that is no JSON-RPC 2.0 message with -32600 and id null.',
      'err.ambiguous':
        'The gateway MUST answer a message with -32600 and id null where the message itself, `params`, `_meta`, `ref`, `result` or `error` has a key twice, in any spelling, or one that differs from a key read there in case alone.',
      'err.deep': 'The gateway MUST answer a message nested deeper than `limits.depth` with -32600 and id null.',
      'err.notification': 'The gateway MUST NOT answer a notification, also not one it does not know.',
      'err.method':
        'The gateway MUST answer an unknown method, and one of a capability it did not announce, with -32601.',
      'err.unknown': 'The gateway MUST answer a call of an unknown tool or prompt with -32602.',
      'err.resource':
        'The gateway MUST answer for a resource nobody owns with -32002, in the modern era -32602, and `data.uri`.',
      'err.denied':
        'The gateway MUST answer for what a rule denies exactly as for what does not exist, and contact no upstream for either.',
      'err.params':
        'The gateway MUST answer params that do not fit with -32602: no name, URI, `ref` or level, `arguments` or `_meta` that are no object, `arguments` with a key twice at any depth, a progress token that could be no id.',
      'err.fault':
        'The gateway MUST answer its own faults with -32603, a request state that is gone with -32602, and a `reason` of the table in [errors.md](errors.md).',
      'err.upstream':
        "The gateway MUST pass a JSON-RPC error of the owner on unchanged, but for the codes of [the eras](#codes-and-shapes), and a tool's `isError` result as a result.",
      'err.secret':
        'The gateway MUST NOT put a URL, path, header, stack or credential, or what an upstream said beside JSON-RPC, into an error of its own.',
      'relay.exact':
        'The gateway MUST relay params, result and error as they were written, but for id, name, URI, progress token, `task` and what the eras demand.',
      'relay.lost':
        'The gateway MUST end the calls in flight at an upstream that is lost within a second, with `upstream_closed`.',
      'relay.timeout':
        "The gateway MUST end a call without an answer or progress for the upstream's `timeout`, or without an answer for its `maxTimeout`, with `timeout`, and cancel it at the owner.",
      'relay.late': 'The gateway MUST drop an answer of the owner to a call that has ended.',
    },
    client: {
      'err.backoff':
        'The client SHOULD wait `data.retryAfterMs` before it repeats a request that failed with a retryable fault.',
      'err.repeat':
        'The client SHOULD NOT repeat a call that ended in `upstream_closed` or `timeout` by itself: the owner may have acted on it.',
    },
  },
  Batches: {
    gateway: {
      'batch.revision':
        'The gateway MUST take an array of 1 to 64 messages where the session has agreed on 2025-03-26, and refuse every other as a whole: -32700 where it is not JSON, else -32600, with id null.',
      'batch.members':
        'The gateway MUST judge each member as if it had come alone, and refuse an array among them and a second `initialize`.',
      'batch.answer':
        'The gateway MUST answer a batch in one array once each of its requests is answered or cancelled, with no member for a cancelled one, a notification or a response, and not at all where none is left.',
      'batch.pass': 'The gateway MUST pass everything that is no answer to the batch on while the batch waits.',
      'batch.size':
        'The gateway MUST answer with `too_large` in place of what would fill more than `limits.outbox` with answers held back.',
      'batch.end':
        'The gateway MUST send the answers to a batch, errors that end its calls among them, before it closes the socket because it shuts down.',
    },
    client: {},
  },
  'Methods of vendors': {
    gateway: {
      'vendor.owner':
        "The gateway MUST relay a request of a method that is not MCP's to the first upstream in the configuration that serves it, and treat it as any other call from then on.",
      'vendor.denied':
        'The gateway MUST answer a method that nobody serves or a rule denies with -32601, and contact no upstream.',
      'vendor.said':
        "The gateway MUST pass such a notification of the client on, where rules let it, over an open connection of the session's own to that upstream, if it is a handshake one, and drop it elsewhere.",
      'vendor.heard':
        'The gateway MUST pass such a notification of an upstream that serves its method, where rules let it, to the one client the connection belongs to, as it was written, and drop any other.',
    },
    client: {},
  },
  'Extensions and tasks': {
    gateway: {
      'ext.announced':
        "The gateway MUST announce `extensions` and `experimental` capabilities of the upstreams in the principal's view as they are, in both eras; where two use one name, as the first in the configuration has it.",
      'ext.declared':
        'The gateway MUST declare what a handshake client declares there on the connections of its session.',
      'ext.limit':
        'The gateway MUST drop what one peer says there beyond 64 names, 16 KiB or 32 levels, and serve it as ever.',
      'task.none': 'The gateway MUST NOT announce or declare tasks, and answers `tasks/*` with -32601.',
      'task.asked': 'The gateway MUST serve a request that asks for a task as if it had not, in either direction.',
    },
    client: {},
  },
  'Requests to the client': {
    gateway: {
      'ask.id': 'The gateway MUST ask a client under ids `g1`, `g2`, … of one counter for the socket, none used twice.',
      'ask.relay':
        'The gateway MUST relay what a handshake upstream asks and what the client answers, an error too, unchanged but for id, progress token and `task`.',
      'ask.caller':
        "The gateway MUST ask the one client a handshake upstream's connection belongs to, and nobody where the connection is shared.",
      'ask.declared':
        'The gateway MUST NOT ask a client for what it did not declare in `initialize`; a handshake upstream is told at once.',
      'ask.withdrawn':
        'The gateway MUST pass on that the upstream withdraws what it asked, as `notifications/cancelled` with the id the client knows, and drop an answer that comes later.',
      'ask.clock': 'The gateway MUST NOT let a call time out while its upstream waits for an answer of the client.',
      'ask.limit':
        'The gateway MUST NOT have more than 16 requests open for one connection of a session to a handshake upstream.',
      'ask.notices':
        "The gateway MUST pass on `notifications/elicitation/complete` to the client and `notifications/roots/list_changed`, where roots were declared, to the session's connections to handshake upstreams.",
    },
    client: {
      'ask.answer':
        "The client MUST answer each such request once, under exactly its id; it is an id of the gateway's and never one of the client's own.",
    },
  },
  'Between the eras': {
    gateway: {
      'input.asked':
        "The gateway MUST answer a modern client's request with `input_required` where a handshake upstream asks what the request declares: the questions under keys of the gateway's, and a `requestState`.",
      'input.open':
        'The gateway MUST answer the request sent again with `input_required` as long as questions are open, each under the key it had, and ignore a result under a key nobody asked with.',
      'input.withdrawn':
        'The gateway MUST NOT wait for the answer to what the upstream has withdrawn; the request, sent again, gets what the call ended with.',
      'input.declared':
        'The gateway MUST answer with -32021 and `data.requiredCapabilities` where the call of a client that may be asked needs an elicitation or a sampling that its request does not declare.',
      'input.visit':
        "The gateway MUST turn an upstream's -32042 into questions that name the pages, and make the call anew when the request is sent again.",
      'input.relay':
        "The gateway MUST relay the questions of a modern upstream and the client's results under the keys and in the words they came in, without a `requestState` where the upstream has none.",
      'input.limit':
        'The gateway MUST answer with `at_capacity` where four calls of the session that wait for the client, or may have to, are with that handshake upstream already.',
      'input.size':
        'The gateway MUST refuse what a handshake upstream asks when the questions of one call come to over 4,194,304 characters.',
      'input.room':
        'The gateway MUST end the call that has waited longest for its client, a minute at least, where another call needs its place.',
      'input.share':
        'The gateway MUST end a call that waits for its client, however briefly, where another principal needs a place and holds at least two fewer than the one who waits.',
      'input.in-flight': 'The gateway MUST count a call that waits for its client among those in flight.',
      'input.place': 'The gateway MUST take the request that brings the answers in the place of the call it takes up.',
      'input.unheard':
        'The gateway MUST keep at least the last call that ended while its client was away, and no more than four.',
      'input.close':
        'The gateway MUST end the calls that wait for a client whose socket closes, and the connections they are on.',
      'state.sealed':
        'The gateway MUST hand out a `requestState` that shows nothing of what it stands for and is refused when it has been changed in any way.',
      'state.bound':
        'The gateway MUST take a `requestState` from the principal it was made for alone, with the params it was made for, and for a call that waits on the same socket alone.',
      'state.once':
        'The gateway MUST take a `requestState` once; a request whose `inputResponses` are malformed spends none.',
      'state.untaken': 'The gateway MUST NOT take a state for used whose request never reached the upstream.',
      'state.life': 'The gateway MUST NOT take a `requestState` 10 minutes after it was made.',
      'state.gone':
        'The gateway MUST answer a request whose state it does not take with -32602 and `data: {"reason": "state_gone", "retryable": false}`.',
      'state.own':
        "The gateway MUST keep a modern upstream's state, of at most 49,152 characters, from the client, and bring it back to the upstream as it was.",
      'round.asked':
        'The gateway MUST ask a handshake client what a modern upstream asks in place of an answer, each as a request under `g<n>`, and send the upstream its request again once all are answered.',
      'round.declared':
        'The gateway MUST tell a modern upstream with each request what its client declares, on a shared connection too.',
      'round.error':
        'The gateway MUST end the call with the error that the client answers a question with, and withdraw the others.',
      'round.cancel': 'The gateway MUST withdraw the questions of a call that the client cancels.',
      'round.endless': 'The gateway MUST end a call with `too_large` whose upstream asks a 17th time.',
      'round.timeout':
        'The gateway MUST end a call with `timeout` whose questions the client has not answered within 10 minutes, and withdraw them.',
      'shape.envelope':
        'The gateway MUST NOT pass on -32020 or -32022 of a modern upstream, which are about what the gateway wrote.',
      'shape.undeclared': 'The gateway MUST pass -32021 of an upstream on to a handshake client as -32602.',
      'shape.handshake':
        'The gateway MUST leave out, for handshake clients of modern upstreams, an `outputSchema` whose type is not object and a `structuredContent` that is no object.',
      'shape.modern': 'The gateway MUST pass both on to modern clients as they are.',
    },
    client: {
      'input.again':
        'The client MUST send the same request again, under an id that is not in flight, with results under those keys in `inputResponses` and the `requestState` as it is.',
    },
  },
  Progress: {
    gateway: {
      'progress.own':
        'The gateway MUST send progress only where it was asked for: to that socket and under exactly its token, whatever tokens others use.',
      'progress.increasing':
        'The gateway MUST drop progress that is not greater than what it sent before for the request.',
      'progress.before': 'The gateway MUST send the progress of a request before its answer, and none after.',
    },
    client: {},
  },
  Cancellation: {
    gateway: {
      'cancel.relay':
        'The gateway MUST cancel a request at its owner, under the id it has there, as soon as it reads the cancellation.',
      'cancel.silent': 'The gateway MUST NOT send anything more about a request once it has read its cancellation.',
      'cancel.frees':
        'The gateway MUST take a cancelled request for ended: its id and its place among those in flight are free.',
      'cancel.ignore':
        "The gateway MUST ignore a cancellation of `initialize` and of what is unknown, answered, another socket's, or of an id of another type.",
      'cancel.close': 'The gateway MUST cancel at their owners all requests of a socket that closes, and no others.',
    },
    client: {
      'cancel.late': 'The client MUST ignore an answer that reaches it after it sent the cancellation.',
    },
  },
  'Lists and changes': {
    gateway: {
      'list.view': 'The gateway MUST list what the principal may use, or may with some arguments, and nothing else.',
      'list.name':
        'The gateway MUST list each tool and prompt under one name of 1 to 64 characters of `A-Z a-z 0-9 _ . -` that no other has, and take it for that one alone.',
      'list.uri': 'The gateway MUST list resources under their own URIs, each once, and read a URI from its one owner.',
      'list.exact':
        'The gateway MUST list definitions as their owner wrote them, with another name and, but for the `outputSchema` that handshake clients do not know, nothing else changed.',
      'list.sorted':
        'The gateway MUST list in a stable order, on pages of at most 1,000 items and, but for a single larger item, 1 MiB.',
      'list.cursor':
        "The gateway MUST continue a list after the last item the cursor's holder was shown, whatever has changed since, and answer a cursor it did not write for this list with -32602.",
      'list.changed':
        'The gateway MUST tell a session of a change in its own view once, when its lists already show it, and of no other.',
      'list.changed.burst': 'The gateway MUST take changes within `timing.listChangeCoalesce` for one.',
      'list.keep':
        'The gateway MUST keep what a lost upstream offered listed for its `keepListed`, then tell of its going and of its return.',
      'list.rest': 'The gateway MUST list and serve the other upstreams as ever while one cannot be reached.',
    },
    client: {},
  },
  Subscriptions: {
    gateway: {
      'sub.update':
        'The gateway MUST send `notifications/resources/updated` to the sessions subscribed to that URI, and to no other.',
      'sub.pace':
        'The gateway MUST send one session at most one `notifications/resources/updated` of a URI in `timing.listChangeCoalesce`, and one after the last update.',
      'sub.idempotent':
        'The gateway MUST take a second subscription to a URI, and the end of one that is not there, for done.',
      'sub.restore':
        "The gateway MUST subscribe anew when it has lost the owner's connection, and then send one update to each subscriber.",
      'sub.unknown': 'The gateway MUST answer a subscription to what nobody owns, or what is denied, with -32002.',
      'sub.limit': 'The gateway MUST answer a subscription over `limits.subscriptions` with `at_capacity`.',
      'sub.end': 'The gateway MUST end the subscriptions of a socket that closes.',
    },
    client: {},
  },
  'Log messages': {
    gateway: {
      'log.level':
        'The gateway MUST NOT send a handshake client log messages below the level the session has set; all are sent where it has set none.',
      'log.request':
        'The gateway MUST NOT send a modern client a log message but while a request of its that names its level, or a lower one, is with the upstream that says it.',
      'log.own':
        'The gateway MUST send a session the log messages of its own upstream connections, and never those of a connection it shares.',
    },
    client: {},
  },
  Limits: {
    gateway: {
      'limit.opening':
        'The gateway MUST close a socket on which neither `initialize` nor a modern request was accepted within `limits.firstMessage` with 4408, whatever else was sent.',
      'limit.capabilities':
        'The gateway MUST refuse with -32602 capabilities of a client that are over 65,536 characters or nest deeper than 64 levels.',
      'limit.in-flight':
        'The gateway MUST answer a request that would be one too many in flight with `too_many_in_flight`, and take the next once one has ended.',
      'rate.request':
        'The gateway MUST answer a request over its principal’s `limits.requestsPerSecond` with `rate_limited` and the wait until it would pass, contact no upstream for it, and keep the socket open.',
      'rate.cost':
        'The gateway MUST charge a principal, for all its sockets together, 1 for a request, 5 for what is answered with id null and 0.2 for any other message, each member of a batch by itself.',
      'rate.dropped':
        'The gateway MUST drop over that rate, without an answer, a notification and what would be answered with id null.',
      'rate.taken':
        'The gateway MUST take over that rate, and charge, `notifications/cancelled`, `notifications/initialized` and answers to what it asked.',
      'rate.flood':
        'The gateway MUST close a socket with 4429 and a hint at the 1,000th message over the rate within 10 s, once that is answered.',
      'rate.malformed':
        'The gateway MUST close a socket with 4400 at the 20th message within a minute that has its answer with id null, once that is answered.',
      'limit.age':
        'The gateway MUST drain a socket at `limits.connectionAge`, give or take a tenth, as it drains all when it shuts down, and no other with it.',
      'limit.answer':
        'The gateway MUST end a call whose answer is over `limits.maxUpstreamMessage` with `too_large`, and no other.',
      'limit.children':
        'The gateway MUST answer a call that needs a process with `at_capacity`, and keep the socket, where all that may run in all, or for its principal, are at work.',
      'limit.starts':
        'The gateway MUST answer a call whose process cannot be started within 3 s, by `limits.childStartsPerSecond`, with `at_capacity`.',
      'limit.slow':
        'The gateway MUST close a socket that is over `limits.outbox` and drains nothing for `limits.slowReader` with 4430, and serve the others meanwhile.',
      'limit.slow.shared':
        'The gateway MUST close a socket with 4430 at once where an answer from an upstream connection it shares would go over `limits.outbox`, or where what the gateway itself says beyond that comes to as much again.',
      'limit.slow.own':
        'The gateway MUST leave in the upstream connections of the session’s own what comes there while its socket is over `limits.outbox`, until half of that has drained, and lose nothing of it.',
      'limit.pipe':
        'The gateway MUST read nothing from a client while over 1 MiB of what it has written waits for an upstream, until half of that is taken, nothing is for 1 s or 10 s are over, and read the others meanwhile.',
      'limit.total':
        'The gateway MUST close the sockets with most waiting with 1013 while more than `limits.bufferedTotal` waits in all, until the rest is under it, and none while that much waits for shared upstreams alone.',
    },
    client: {},
  },
  'Token life': {
    gateway: {
      'life.announced':
        'The gateway MUST announce the extension `ws-gateway/token`, in both eras, to a client that came by a token, and to no other.',
      'life.own':
        'The gateway MUST NOT pass on what an upstream or a client announces under a name that begins with `ws-gateway/`.',
      'life.warning':
        'The gateway MUST send a client that declared the extension `ws-gateway/tokenExpiring` once for each token, when a tenth of what was left of it is left, but no more than 60 s; at once where the client declares it later.',
      'life.silent':
        'The gateway MUST NOT send `ws-gateway/tokenExpiring` to any other client, nor before `notifications/initialized`.',
      'life.refresh':
        'The gateway MUST judge the token of `ws-gateway/refreshToken` as that of an upgrade and, where it is good and of the same issuer and id, go on by its roles, scopes, claims and end, an earlier one too, and answer with that.',
      'life.refused':
        'The gateway MUST answer any other token with -32602 in one fixed text, and leave the session as it was.',
      'life.rate':
        'The gateway MUST answer a `ws-gateway/refreshToken` less than 30 s after one whose token it judged with `rate_limited`.',
      'life.keys': 'The gateway MUST answer a token it cannot get the keys for with `upstream_unavailable`.',
      'life.absent':
        "The gateway MUST answer `ws-gateway/refreshToken` with -32601 where the client did not come by a token, and serve no upstream's method of a name that begins with `ws-gateway/`.",
      'life.pending':
        "The gateway MUST serve what else comes while it judges a token, and count the old one's end meanwhile; one that is found good within `auth.expiryGrace` still counts.",
      'life.calls':
        'The gateway MUST end calls in flight to what the fresh token does not allow, at their owners too, and answer each as it answers the same request from then on.',
      'life.parked':
        "The gateway MUST end a call that waits for its client where the fresh token does not allow it, and answer the client's return as any denied call.",
      'life.heard':
        'The gateway MUST end, at the owner too, a subscription to what the fresh token does not allow, and with its result a listen that names it, and send no update of it any more.',
      'life.links':
        "The gateway MUST close the session's own connections to an upstream of which nothing is in view any more.",
      'life.told':
        "The gateway MUST tell of a change of each kind of list that the fresh token changes in the session's view.",
      'life.capabilities':
        'The gateway MUST end every listen with its result where the fresh token changes what `server/discover` announces.',
    },
    client: {
      'life.declare':
        'The client MUST declare `ws-gateway/token` under `extensions` or `experimental`, in `initialize` or in any modern request but `server/discover`, to be told that its token ends.',
      'life.again': 'The client SHOULD bring a fresh token when it is told, and reconnect where that is refused.',
    },
  },
  Closing: {
    gateway: {
      'close.echo': 'The gateway MUST answer a close frame of the client with one of the same code.',
      'close.terminate':
        'The gateway MUST end the TCP connection 1 s after its own close frame where the client has not.',
      'close.expired':
        'The gateway MUST refuse every request with -32600 once the token has expired by more than `auth.clockTolerance`, let those in flight end within `auth.expiryGrace`, then close with 4401.',
    },
    client: {
      'close.act':
        'The client MUST act on the code, by the last column, and not on the text of a reason but for its hint, which it waits more or less at random.',
      'close.state':
        "The client MUST open a new session on a new socket: no id, subscription, level, request state or cursor's promise but that of the list itself outlives the old one.",
    },
  },
  'Keep-alive': {
    gateway: {
      'ping.frame': 'The gateway MUST keep a socket alive with ping frames (RFC 6455), and with no JSON-RPC message.',
      'ping.lost':
        "The gateway MUST terminate a socket from which not one byte has come within `limits.pongTimeout` of a ping's leaving.",
      'ping.busy':
        'The gateway MUST NOT terminate for that who still takes what waits for it, or whose answer has come and could not be read yet.',
      'ping.pong': 'The gateway MUST answer a ping frame with a pong of the same payload.',
    },
    client: {},
  },
  Draining: {
    gateway: {
      'drain.notice':
        'The gateway MUST go on as usual for `timing.drain.notice` once it was told to stop, new sockets included.',
      'drain.refuse': 'The gateway MUST refuse upgrades with 503 from then on.',
      'drain.idle':
        'The gateway MUST close sockets without requests in flight with 1001, spread over `timing.drain.waves` but fifty a second at least, and after them the others as soon as theirs are answered.',
      'drain.hint': 'The gateway MUST give each socket that it drains a hint of its own, from 1,000 to 2,000 ms.',
      'drain.opening':
        'The gateway MUST answer a modern client’s first request that waits for upstreams when the drain begins.',
      'drain.new':
        'The gateway MUST serve a socket as usual until its turn to close, then answer new requests that go beyond `ping` and lists with `draining`, and close it as soon as nothing is in flight.',
      'drain.over':
        'The gateway MUST end what is still in flight `timing.drain.inFlight` after the socket’s turn with `draining` before it closes with 1001.',
    },
    client: {},
  },
  Order: {
    gateway: {
      'order.link':
        'The gateway MUST send what one connection to an upstream says to a session in the order in which it was said.',
    },
    client: {
      'order.answers': 'The client MUST NOT rely on the order of answers to different requests.',
    },
  },
  Upstreams: {
    gateway: {
      'up.probe':
        'The gateway MUST find out the era of an upstream with `server/discover`, on a connection that sees no `initialize`, once for all its sessions.',
      'up.handshake':
        'The gateway MUST initialise on a new connection an upstream that answers the probe otherwise than the modern revision demands, hangs up, or says nothing for a third of its `startTimeout`.',
      'up.slow':
        'The gateway MUST ask an upstream that was silent to the probe and then refuses `initialize` once more as a modern one, with the time that is left.',
      'up.misfit':
        'The gateway MUST NOT send `initialize` to an upstream that refuses the modern revision and names it as supported.',
      'up.again':
        'The gateway MUST find out anew when an upstream denies the era it was found in, and serve it in the other.',
      'up.unsaid':
        'The gateway MUST NOT let an upstream ask or state in an answer, across the eras or twice in one key, what only the gateway may: such an answer ends its call with `too_large`.',
      'up.lease':
        'The gateway MUST make each call of a modern client that may be asked on a connection to the handshake upstream that serves no other call, and close that connection unless the call ends with its answer.',
      'up.room':
        'The gateway MUST count a connection against `maxLinks` until its close has ended, and let an idle one make room for a call that needs another.',
      'up.envelope':
        'The gateway MUST put an envelope of its own on each request: the revision, its own `clientInfo`, and what the client behind the request declares.',
      'up.level':
        'The gateway MUST name with each request the log level that its client wants, and none where it wants none.',
      'up.round':
        'The gateway MUST NOT send a modern upstream a `requestState` that is not its own, nor `inputResponses` that a handshake client wrote.',
      'up.asks': 'The gateway MUST NOT answer a request of a modern upstream, and counts it.',
      'up.says': 'The gateway MUST NOT send a modern upstream a notification but `notifications/cancelled`.',
      'up.listen.one':
        'The gateway MUST hold one `subscriptions/listen` on a connection for all that is subscribed to over it, and end it with the last.',
      'up.listen.change':
        'The gateway MUST open another listen for what has changed meanwhile, and end the one before only once the other is acknowledged.',
      'up.listen.linger': 'The gateway MUST hear, over HTTP, what is still told on a replaced listen for a second.',
      'up.listen.lists':
        'The gateway MUST listen to changes of the lists that the upstream announces, on one connection for all sessions, before it reads them.',
      'up.listen.again':
        'The gateway MUST open a listen that the upstream ends anew, then read the lists anew and send one update to each subscriber.',
      'up.listen.refused':
        'The gateway MUST answer a subscription that the upstream does not acknowledge with -32602, and keep the others.',
      'up.http.post':
        'The gateway MUST send each request as a POST of its own, with `MCP-Protocol-Version`, `Mcp-Method` and, where it names something, `Mcp-Name`, and without a session.',
      'up.http.params':
        'The gateway MUST repeat in `Mcp-Param-*` headers the arguments that a tool marks with `x-mcp-header`.',
      'up.http.params-invalid': 'The gateway MUST leave out tools whose marks are not valid, and name them in its log.',
      'up.http.params-again':
        'The gateway MUST list the tools anew when a call is refused for its headers, and send it once more if their marks have changed.',
      'up.http.cancel': 'The gateway MUST cancel a request by closing its stream, and post nothing for it.',
      'up.http.cut':
        'The gateway MUST end a call whose answer is cut off with `upstream_closed`, resume no stream, and go on with the others.',
      'up.http.error':
        'The gateway MUST take a JSON-RPC error for the id of the request for its answer, also in a 400 or 404.',
      'up.module':
        'The gateway MUST serve a server of SDK 2.x in a `module` in both eras, a server of its own for each connection.',
    },
    client: {},
  },
} as const satisfies Record<string, Record<Requirement['by'], Record<string, string>>>;

type KeyOf<T> = T extends unknown ? keyof T : never;
type Bound = (typeof OBLIGATIONS)[keyof typeof OBLIGATIONS];
export type GatewayId = KeyOf<Bound['gateway']>;
export type RequirementId = GatewayId | KeyOf<Bound['client']>;

export const REQUIREMENTS: readonly Requirement[] = Object.entries(OBLIGATIONS).flatMap(([section, bound]) =>
  (['gateway', 'client'] as const).flatMap((by) =>
    Object.entries(bound[by]).map(([id, sentence]) => ({ id, section, by, sentence })),
  ),
);
