-- Runs beside: nothing
-- Positions and states of projections. The tables of a projection are in schemas of their own,
-- rm_<name>_<generation>. The views of read_model show the live generation of each projection.

create schema read_model authorization consent_ledger_projections;
comment on schema read_model is 'Views of the live generation of each projection.';

create table projections (
  name text primary key check (name ~ '^[a-z][a-z0-9_]{0,39}$'),
  live_generation integer,
  state text not null check (state in ('running', 'stopped', 'needs_rebuild')),
  problem jsonb,
  changed_at timestamptz not null default now()
);

comment on table projections is 'Projections that the installation keeps.';
comment on column projections.name is 'Name of the projection.';
comment on column projections.live_generation is 'Generation that the views show; null: none yet.';
comment on column projections.state is
  'running; stopped: an event could not be applied; needs_rebuild: the log was filled again, so that the position means nothing.';
comment on column projections.problem is
  'Why it stopped and at which event, without any content of the event; null: no problem.';
comment on column projections.changed_at is 'Time of the last change of the state.';

create table projection_generations (
  name text not null references projections,
  generation integer not null check (generation > 0),
  version integer not null,
  position text,
  events bigint not null,
  created_at timestamptz not null default now(),
  primary key (name, generation)
);

comment on table projection_generations is 'Generations of each projection. A rebuild fills a new one beside the live one.';
comment on column projection_generations.name is 'Projection.';
comment on column projection_generations.generation is 'Number of the generation.';
comment on column projection_generations.version is 'Version of the definition that made its tables.';
comment on column projection_generations.position is 'Position in the log up to which every event is applied; null: nothing yet.';
comment on column projection_generations.events is 'Events read so far, ignored ones included.';
comment on column projection_generations.created_at is 'Time of creation.';

create table projection_views (
  view text primary key,
  name text not null references projections
);

comment on table projection_views is 'Which projection each view belongs to, so that no other takes its name.';
comment on column projection_views.view is 'Name of the view in read_model.';
comment on column projection_views.name is 'Projection that the view belongs to.';

create function create_projection_schema(in_name text, in_generation integer) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if in_name !~ '^[a-z][a-z0-9_]{0,39}$' or in_generation < 1 then
    raise exception 'not a projection: %', in_name using errcode = 'invalid_schema_name';
  end if;
  execute format('create schema %I authorization consent_ledger_projections', 'rm_' || in_name || '_' || in_generation);
end
$$;
comment on function create_projection_schema(text, integer) is
  'Creates the schema of one generation. The role of the projector may create no other schema.';
revoke all on function create_projection_schema(text, integer) from public;
grant execute on function create_projection_schema(text, integer) to consent_ledger_projections;
