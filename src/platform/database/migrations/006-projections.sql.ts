/**
 * Where projections stand. Their tables live in schemas of their own, `rm_<name>_<generation>`; the views of `read_model` point to
 * the live generation of each.
 */
export const projectionsSql = `
create schema read_model authorization consent_ledger_projections;
grant usage on schema read_model to consent_ledger_api, consent_ledger_worker;

create table projections (
  name text primary key check (name ~ '^[a-z][a-z0-9_]{0,39}$'),
  -- The generation that the views show; null until there is one.
  live_generation integer,
  -- stopped: an event could not be applied; needs_rebuild: the log was filled again, so its position means nothing any more.
  state text not null check (state in ('running', 'stopped', 'needs_rebuild')),
  -- Why it is stopped and at which event; never anything of the event's content.
  problem jsonb,
  changed_at timestamptz not null default now()
);

create table projection_generations (
  name text not null references projections,
  generation integer not null check (generation > 0),
  -- Of the definition that made its tables.
  version integer not null,
  -- Everything in the log up to here is in its tables; null: nothing yet.
  position text,
  -- Events read so far, those that it ignores included.
  events bigint not null,
  created_at timestamptz not null default now(),
  primary key (name, generation)
);

-- The views of read_model and whose they are, so that no projection takes the name of another's.
create table projection_views (
  view text primary key,
  name text not null references projections
);

-- Makes the schema of one generation; the projector's role may create no other.
create function create_projection_schema(in_name text, in_generation integer) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if in_name !~ '^[a-z][a-z0-9_]{0,39}$' or in_generation < 1 then
    raise exception 'not a projection: %', in_name using errcode = 'invalid_schema_name';
  end if;
  execute format('create schema %I authorization consent_ledger_projections', 'rm_' || in_name || '_' || in_generation);
end $$;
revoke all on function create_projection_schema(text, integer) from public;
grant execute on function create_projection_schema(text, integer) to consent_ledger_projections;

grant select, insert, update, delete on projections, projection_generations, projection_views to consent_ledger_projections;
grant select on projections, projection_generations, projection_views to consent_ledger_api, consent_ledger_worker;
grant update (state, problem, changed_at) on projections to consent_ledger_worker;
`;
