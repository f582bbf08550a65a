PRAGMA application_id = 1396791635;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE event (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            conversation TEXT NOT NULL,
            parent INTEGER REFERENCES event (id),
            source TEXT NOT NULL,
            time REAL NOT NULL,
            kind TEXT NOT NULL,
            payload TEXT NOT NULL
        ) STRICT
        ;
INSERT INTO "event" VALUES(1,'main',NULL,'person',1.79511365163610935209e+09,'conversation.began','{"name":"","owner":"","workspace":""}');
INSERT INTO "event" VALUES(2,'main',1,'person',1.79511365256528282168e+09,'asked','{"text":"Note that we need hay, and multiply two by twenty-one.","by":"vm-ask","places":[]}');
INSERT INTO "event" VALUES(3,'main',2,'model',1.79511366064392161373e+09,'answered','{"text":"","calls":[{"id":"f68104e43","language":"python","code":"open(''notes.txt'',''w'').write(''hay'')\nprint(2*21)","given_id":"","written":"```python\nopen(''notes.txt'',''w'').write(''hay'')\nprint(2*21)\n```"}],"model":"scripted","whole":"whole","tokens_in":429,"tokens_out":15,"usd":null,"seconds":8.069}');
INSERT INTO "event" VALUES(4,'main',3,'server',1.79511366064703154561e+09,'run.intended','{"run":"f68104e43","language":"python","code":"open(''notes.txt'',''w'').write(''hay'')\nprint(2*21)","where":"{home}/workspaces/main","binding":"493edb38832be6b7e95d3ce2099768150baa481d37ace71772a4e267e2c24ee5"}');
INSERT INTO "event" VALUES(5,'main',4,'runtime',1.79511366067545986174e+09,'run.reported','{"run":"f68104e43","status":"ok","seconds":0.01795462299924111,"detail":"","output":"42\n","changes":{"added":["notes.txt"],"changed":[],"deleted":[],"more":0,"note":""},"pictures":[]}');
INSERT INTO "event" VALUES(6,'main',5,'model',1.79511366071111679075e+09,'answered','{"text":"Forty-two, and the notes are written.","calls":[],"model":"scripted","whole":"whole","tokens_in":100,"tokens_out":10,"usd":null,"seconds":0.034}');
INSERT INTO "event" VALUES(7,'main',NULL,'person',1.79511366139896798134e+09,'reminder.set','{"id":"fda91abb9ce6f469","kind":"reminder","due":4102444800.0,"what":"mow the meadow","seconds":0,"by":"vm-ask"}');
CREATE INDEX event_by_conversation ON event (conversation, id);
CREATE TRIGGER event_stays BEFORE UPDATE ON event
        BEGIN SELECT RAISE (ABORT, 'the log is append-only'); END;
CREATE TRIGGER event_remains BEFORE DELETE ON event
    BEGIN SELECT RAISE (ABORT, 'the log is append-only'); END;
CREATE INDEX event_by_kind ON event (kind, id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('event',7);
COMMIT;
