-- Runs beside: 0001-initial
-- A relay that has nothing to do holds the lock of this name, and listens. Only then is it notified:
-- commits that notify wait for each other.
create function event_log.wake_relay() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not pg_try_advisory_xact_lock_shared(hashtextextended('consent-ledger relay sleeps', 0)) then
    perform pg_notify('consent_ledger_waiting', '');
  end if;
  return null;
end
$$;
comment on function event_log.wake_relay() is 'Notifies a relay that sleeps of waiting events.';
create trigger wakes_relay after insert on event_log.waiting
  for each statement execute function event_log.wake_relay();
