/**
 * The tables and functions of usage in PostgreSQL: a part of version 3.
 * @module
 */
import { lockTimeout, nowMs, type PostgresNames } from "./_postgres_names.ts";

/**
 * Usage by hour, in one partition per UTC day, which is dropped as a whole. The id of an addition makes it happen once,
 * however often it is repeated.
 */
export function createUsage(name: PostgresNames): string {
  return `
    CREATE TABLE ${name("usage")} (
      hour timestamptz NOT NULL,
      row_id text NOT NULL,
      client text,
      client_id text,
      pool text NOT NULL,
      model text,
      tier text,
      tags text[] NOT NULL,
      team text,
      requests bigint NOT NULL,
      tokens_in bigint NOT NULL,
      tokens_out bigint NOT NULL,
      cost_nano_usd bigint NOT NULL,
      caller_cost_nano_usd bigint NOT NULL,
      PRIMARY KEY (hour, row_id)
    ) PARTITION BY RANGE (hour);
    CREATE TABLE ${name("usage_additions")} (
      id uuid PRIMARY KEY,
      added_at bigint NOT NULL DEFAULT ${nowMs}
    );
    ${addUsage(name)}
    ${dropUsage(name)}`;
}

const usageLock = ({ schema, prefix }: PostgresNames) =>
  `PERFORM pg_advisory_xact_lock(hashtext('modelmesh usage'), hashtext('${schema} ${prefix}'));`;

function addUsage(name: PostgresNames): string {
  const { schema, prefix } = name;
  return `
    CREATE FUNCTION ${name("add_usage")}(addition uuid, added jsonb) RETURNS void LANGUAGE plpgsql ${lockTimeout}
    AS $function$
    DECLARE
      day date;
      partition text;
    BEGIN
      INSERT INTO ${name("usage_additions")} (id) VALUES (addition) ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN RETURN; END IF;
      FOR day IN
        SELECT DISTINCT (a ->> 'hour')::timestamptz AT TIME ZONE 'UTC' FROM jsonb_array_elements(added) AS a ORDER BY 1
      LOOP
        partition := '${prefix}usage_' || to_char(day, 'YYYYMMDD');
        CONTINUE WHEN EXISTS (SELECT FROM pg_tables WHERE schemaname = '${schema}' AND tablename = partition);
        ${usageLock(name)}
        EXECUTE format('CREATE TABLE IF NOT EXISTS %I.%I PARTITION OF %I.%I FOR VALUES FROM (%L) TO (%L)',
          '${schema}', partition, '${schema}', '${prefix}usage', day || ' 00:00+00', day + 1 || ' 00:00+00');
      END LOOP;
      INSERT INTO ${name("usage")} AS u (hour, row_id, client, client_id, pool, model, tier, tags, team,
        requests, tokens_in, tokens_out, cost_nano_usd, caller_cost_nano_usd)
      SELECT r.hour, md5(jsonb_build_array(r.client, r.client_id, r.pool, r.model, r.tier, r.tags, r.team)::text) AS row_id,
        r.client, r.client_id, r.pool, r.model, r.tier, r.tags, r.team,
        sum(r.requests), sum(r.tokens_in), sum(r.tokens_out), sum(r.cost_nano_usd),
        sum(coalesce(r.caller_cost_nano_usd, 0))
      FROM jsonb_to_recordset(added) AS r (hour timestamptz, client text, client_id text, pool text, model text,
        tier text, tags text[], team text, requests bigint, tokens_in bigint, tokens_out bigint, cost_nano_usd bigint,
        caller_cost_nano_usd bigint)
      GROUP BY r.hour, r.client, r.client_id, r.pool, r.model, r.tier, r.tags, r.team
      ORDER BY r.hour, row_id
      ON CONFLICT (hour, row_id) DO UPDATE SET requests = u.requests + excluded.requests,
        tokens_in = u.tokens_in + excluded.tokens_in, tokens_out = u.tokens_out + excluded.tokens_out,
        cost_nano_usd = u.cost_nano_usd + excluded.cost_nano_usd,
        caller_cost_nano_usd = u.caller_cost_nano_usd + excluded.caller_cost_nano_usd;
    END $function$;`;
}

function dropUsage(name: PostgresNames): string {
  const { schema, prefix } = name;
  return `
    CREATE FUNCTION ${name("drop_usage")}(before date) RETURNS void LANGUAGE plpgsql ${lockTimeout} AS $function$
    DECLARE partition text;
    BEGIN
      ${usageLock(name)}
      FOR partition IN
        SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = '${name("usage")}'::regclass AND relname < '${prefix}usage_' || to_char(before, 'YYYYMMDD')
      LOOP
        EXECUTE format('DROP TABLE %I.%I', '${schema}', partition);
      END LOOP;
      DELETE FROM ${name("usage_additions")} WHERE added_at < ${nowMs} - 604800000;
    END $function$;`;
}
