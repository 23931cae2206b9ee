/**
 * The tables and functions of a storage in PostgreSQL, by version. A version that has been published never changes;
 * changes are further versions.
 * @module
 */
import { lockTimeout, nowMs, type PostgresNames } from "./_postgres_names.ts";
import { createUsage } from "./_postgres_usage_schema.ts";

/** The statements that lead from one version to the next. */
const versions: readonly ((name: PostgresNames) => string)[] = [
  createRecords,
  createCounters,
  createUsage,
  createEntries,
];

/** The version that this code uses. */
export const schemaVersion: number = versions.length;

/**
 * Returns the script that brings the tables to a version. Of several processes that run it at once, the second one waits
 * for the first, and finds nothing left to do.
 *
 * @param to The version.
 */
export function migrationScript(name: PostgresNames, to: number = schemaVersion): string {
  const { schema, prefix } = name;
  const steps = versions.slice(0, to).map((create, index) => `
  IF present < ${index + 1} THEN
    ${create(name)}
    INSERT INTO ${name("schema_version")} (version) VALUES (${index + 1});
  END IF;`);
  return `
DO $migration$
DECLARE present integer;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('modelmesh'), hashtext('${schema} ${prefix}'));
  IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = '${schema}') THEN
    CREATE SCHEMA "${schema}";
  END IF;
  IF NOT EXISTS (SELECT FROM pg_tables WHERE schemaname = '${schema}' AND tablename = '${prefix}schema_version') THEN
    CREATE TABLE ${name("schema_version")} (
      version integer PRIMARY KEY,
      applied_at timestamptz NOT NULL DEFAULT now()
    );
  END IF;
  SELECT coalesce(max(version), 0) INTO present FROM ${name("schema_version")};${steps.join("")}
END $migration$`;
}

/** Records and locks. Keys are compared by their bytes, whatever the collation of the database. */
function createRecords(name: PostgresNames): string {
  return `
    CREATE TABLE ${name("records")} (
      key text COLLATE "C" PRIMARY KEY,
      data bytea NOT NULL,
      modified_at bigint NOT NULL
    );
    CREATE TABLE ${name("locks")} (
      key text COLLATE "C" PRIMARY KEY,
      owner text NOT NULL,
      expires_at bigint NOT NULL
    );`;
}

/**
 * Counters, the processes that lease parts of them, and messages that are too long for a notification. Space is left in
 * the pages of counters, so that their updates touch no index.
 */
function createCounters(name: PostgresNames): string {
  return `
    CREATE TABLE ${name("sums")} (
      key text COLLATE "C" PRIMARY KEY,
      value bigint NOT NULL,
      expires_at bigint NOT NULL
    ) WITH (fillfactor = 50);
    CREATE TABLE ${name("processes")} (
      id uuid PRIMARY KEY,
      expires_at bigint NOT NULL,
      is_ended boolean NOT NULL DEFAULT false,
      batch bigint NOT NULL DEFAULT 0,
      keys text[] NOT NULL DEFAULT '{}',
      amounts bigint[] NOT NULL DEFAULT '{}',
      leased bigint[] NOT NULL DEFAULT '{}'
    ) WITH (fillfactor = 50);
    CREATE TABLE ${name("leases")} (
      process uuid NOT NULL REFERENCES ${name("processes")} ON DELETE CASCADE,
      key text COLLATE "C" NOT NULL,
      amount bigint NOT NULL,
      PRIMARY KEY (process, key)
    ) WITH (fillfactor = 50);
    CREATE TABLE ${name("messages")} (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      message text NOT NULL,
      sent_at bigint NOT NULL DEFAULT ${nowMs}
    );
    ${lockSums(name)}
    ${countBatch(name)}
    ${endProcess(name)}`;
}

/**
 * Locks counters, those that do not exist being created, in the order of their keys: processes that lock several of them
 * wait for each other, but never in a circle.
 */
function lockSums(name: PostgresNames): string {
  return `
    CREATE FUNCTION ${name("lock_sums")}(wanted text[]) RETURNS void LANGUAGE sql AS $function$
      INSERT INTO ${name("sums")} AS s (key, value, expires_at)
      SELECT DISTINCT w.key COLLATE "C", 0, ${nowMs} FROM unnest(wanted) AS w (key) ORDER BY 1
      ON CONFLICT (key) DO UPDATE SET value = s.value WHERE false
    $function$;`;
}

/**
 * Performs a batch of operations of one process, all in one transaction. An operation is a list of numbers in
 * \`operations\`: 1 for a reservation or 0 for changes, the number of its changes, and for each of them the index of its
 * key, its amount, limit, minimum or null, time to live in ms, and leased amount. The first \`writes\` keys are written.
 *
 * Batches are numbered. The effects of one whose reply the process has not received (it is later than \`acknowledged\`)
 * are undone first: the process has taken it for failed. A batch that arrives after a later one has no effect.
 *
 * Returns whether the leases of the process had ended, whether each operation was granted, and the values of all its
 * counters, in order.
 */
function countBatch(name: PostgresNames): string {
  return `
    CREATE FUNCTION ${name("count_batch")}(
      process_id uuid, lease_ms bigint, acknowledged bigint, number bigint,
      writes integer, wanted text[], operations bigint[]
    ) RETURNS text LANGUAGE plpgsql ${lockTimeout} AS $function$
    DECLARE
      own ${name("processes")}%ROWTYPE;
      is_lost boolean;
      now_ms bigint;
      gone uuid[];
      undone text[] := '{}';
      sums bigint[];
      changed bigint[] := array_fill(0::bigint, ARRAY[cardinality(wanted)]);
      held bigint[] := array_fill(0::bigint, ARRAY[cardinality(wanted)]);
      lives bigint[] := array_fill(NULL::bigint, ARRAY[cardinality(wanted)]);
      grants integer[] := '{}';
      values_after bigint[] := '{}';
      is_granted boolean;
      at integer := 1;
      step integer;
      last integer;
      k integer;
    BEGIN
      SELECT * INTO own FROM ${name("processes")} WHERE id = process_id FOR UPDATE;
      is_lost := NOT FOUND OR own.is_ended;
      IF own.id IS NULL THEN
        INSERT INTO ${name("processes")} (id, expires_at) VALUES (process_id, 0);
      ELSIF own.batch >= number THEN
        RETURN NULL;
      ELSIF own.batch > acknowledged THEN
        undone := own.keys;
      END IF;
      now_ms := ${nowMs};
      SELECT array_agg(p.id) INTO gone FROM (
        SELECT id FROM ${name("processes")}
        WHERE NOT is_ended AND expires_at <= now_ms AND id <> process_id FOR UPDATE SKIP LOCKED
      ) AS p;

      PERFORM ${name("lock_sums")}(wanted[1:writes] || undone || ARRAY(
        SELECT key FROM ${name("leases")} WHERE process = ANY(gone) OR own.is_ended AND process = process_id
      ));
      IF own.is_ended THEN
        UPDATE ${name("sums")} AS s SET value = s.value + l.amount FROM ${name("leases")} AS l
        WHERE l.process = process_id AND s.key = l.key AND s.expires_at > now_ms;
      END IF;
      IF gone IS NOT NULL THEN
        UPDATE ${name("sums")} AS s SET value = s.value - l.amount FROM (
          SELECT key, sum(amount)::bigint AS amount FROM ${name("leases")} WHERE process = ANY(gone) GROUP BY key
        ) AS l WHERE s.key = l.key AND s.expires_at > now_ms;
        UPDATE ${name("processes")} SET is_ended = true WHERE id = ANY(gone);
      END IF;
      IF cardinality(undone) > 0 THEN
        UPDATE ${name("sums")} AS s SET value = s.value - u.amount FROM unnest(undone, own.amounts) AS u (key, amount)
        WHERE s.key = u.key AND s.expires_at > now_ms;
        UPDATE ${
    name("leases")
  } AS l SET amount = l.amount - u.amount FROM unnest(undone, own.leased) AS u (key, amount)
        WHERE l.process = process_id AND l.key = u.key;
      END IF;

      SELECT array_agg(coalesce(s.value, 0) ORDER BY w.position) INTO sums
      FROM unnest(wanted) WITH ORDINALITY AS w (key, position)
      LEFT JOIN ${name("sums")} AS s ON s.key = w.key AND s.expires_at > now_ms;
      WHILE at < cardinality(operations) LOOP
        is_granted := true;
        step := at + 2;
        last := at + 1 + 6 * operations[at + 1];
        WHILE step < last LOOP
          k := operations[step];
          IF operations[step + 3] > sums[k] THEN
            sums[k] := operations[step + 3];
            lives[k] := operations[step + 4];
          END IF;
          IF operations[at] = 1 AND sums[k] + operations[step + 1] > operations[step + 2] THEN
            is_granted := false;
          END IF;
          sums[k] := sums[k] + operations[step + 1];
          step := step + 6;
        END LOOP;
        step := at + 2;
        WHILE step < last LOOP
          k := operations[step];
          IF NOT is_granted THEN
            sums[k] := sums[k] - operations[step + 1];
          ELSIF operations[step + 1] <> 0 OR operations[step + 5] <> 0 THEN
            changed[k] := changed[k] + operations[step + 1];
            held[k] := held[k] + operations[step + 5];
            lives[k] := operations[step + 4];
          END IF;
          step := step + 6;
        END LOOP;
        step := at + 2;
        WHILE step < last LOOP
          values_after := values_after || sums[operations[step]::integer];
          step := step + 6;
        END LOOP;
        grants := grants || is_granted::integer;
        at := last + 1;
      END LOOP;

      UPDATE ${name("sums")} AS s SET value = w.value, expires_at = now_ms + w.life
      FROM unnest(wanted, sums, lives) AS w (key, value, life) WHERE s.key = w.key AND w.life IS NOT NULL;
      INSERT INTO ${name("leases")} AS l (process, key, amount)
      SELECT process_id, w.key, w.amount FROM unnest(wanted, held) AS w (key, amount) WHERE w.amount <> 0
      ON CONFLICT (process, key) DO UPDATE SET amount = l.amount + excluded.amount;
      DELETE FROM ${name("leases")} WHERE process = process_id AND amount <= 0;
      UPDATE ${name("processes")} SET expires_at = now_ms + lease_ms, is_ended = false, batch = number,
        keys = wanted[1:writes], amounts = changed[1:writes], leased = held[1:writes]
      WHERE id = process_id;
      RETURN concat_ws(' ', is_lost::integer, array_to_string(grants, ','), array_to_string(values_after, ','));
    END $function$;`;
}

/** Ends the leases of a process, and forgets it. */
function endProcess(name: PostgresNames): string {
  return `
    CREATE FUNCTION ${name("end_process")}(process_id uuid) RETURNS void LANGUAGE plpgsql ${lockTimeout} AS $function$
    DECLARE own ${name("processes")}%ROWTYPE;
    BEGIN
      SELECT * INTO own FROM ${name("processes")} WHERE id = process_id FOR UPDATE;
      IF FOUND AND NOT own.is_ended THEN
        PERFORM ${name("lock_sums")}(ARRAY(SELECT key FROM ${name("leases")} WHERE process = process_id));
        UPDATE ${name("sums")} AS s SET value = s.value - l.amount FROM ${name("leases")} AS l
        WHERE l.process = process_id AND s.key = l.key AND s.expires_at > ${nowMs};
      END IF;
      DELETE FROM ${name("processes")} WHERE id = process_id;
    END $function$;`;
}

/** Entries that expire. The table is unlogged: what a crash takes from a cache is not lost. */
function createEntries(name: PostgresNames): string {
  return `
    CREATE UNLOGGED TABLE ${name("entries")} (
      key text COLLATE "C" PRIMARY KEY,
      data bytea NOT NULL,
      expires_at bigint NOT NULL
    );
    CREATE INDEX ON ${name("entries")} (expires_at);`;
}
