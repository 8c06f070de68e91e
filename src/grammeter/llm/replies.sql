-- The cache of replies: one row for each request sent, and what each endpoint accepts.
CREATE TABLE IF NOT EXISTS attempts (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,          -- SHA-256 of the request as intended
    server TEXT NOT NULL,
    model TEXT NOT NULL,
    started REAL NOT NULL,      -- seconds since 1970
    seconds REAL NOT NULL,      -- until the reply arrived
    request TEXT NOT NULL,      -- the body as sent
    status INTEGER NOT NULL,    -- HTTP; 0: no reply
    body TEXT NOT NULL,         -- of the reply, unchanged
    reply TEXT NOT NULL,        -- the text in it
    answered_by TEXT,           -- the model's name in the reply
    fingerprint TEXT,
    tokens_in INTEGER,
    tokens_out INTEGER,
    state TEXT NOT NULL,        -- of this request
    scores TEXT,                -- JSON
    reason TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS attempts_by_key ON attempts (key);
CREATE TABLE IF NOT EXISTS abilities (
    server TEXT NOT NULL,
    model TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (server, model)
);
