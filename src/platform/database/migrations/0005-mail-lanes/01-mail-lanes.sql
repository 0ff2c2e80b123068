-- Runs beside: 0001-initial
-- Mails of each kind take turns by the network that caused them, and sign-ups are counted by network, so that a
-- flood from one network delays and closes nothing for others. Programs before this step claim mails in the order
-- of their time, without an index for it while both run.

alter table mails
  add column network_digest bytea not null default '',
  add column recipient_digest bytea,
  add column turn bigint not null default 0;
alter table mails
  alter column network_digest set statistics 0,
  alter column recipient_digest set statistics 0;
create index mails_by_turn on mails (kind, turn, next_attempt_at, id);
create index mails_by_network on mails (kind, network_digest, turn);
create unique index mails_one_reset_request on mails (recipient_digest) where kind = 'reset_request';
drop index mails_by_attempt;

comment on column mails.network_digest is
  'HMAC-SHA256, under a key of the keyring, of the network whose request caused the mail: the first 24 bits of an IPv4 address, 48 of an IPv6 one. Empty: no request did.';
comment on column mails.recipient_digest is
  'Of password_reset and reset_request, of which one waits for each address: HMAC-SHA256 of the address under a key of the keyring.';
comment on column mails.turn is
  'Round of its kind in which it is tried: a network has one mail in each. An attempt that fails moves it behind the others of its network.';

alter table sign_up_requests add column network_digest bytea;
alter table sign_up_requests alter column network_digest set statistics 0;
create index sign_up_requests_by_network on sign_up_requests (network_digest, requested_at);

comment on table sign_up_requests is 'Sign-ups of the last 24 hours, so that no address is flooded and many of them cost work.';
comment on column sign_up_requests.address_digest is
  'HMAC-SHA256 of the address under a key of the keyring; where the service sends mail, of the address without its subaddress.';
comment on column sign_up_requests.network_digest is
  'HMAC-SHA256 of the network of the request under a key of the keyring; null: from before it was kept.';
comment on column sign_up_requests.requested_at is 'Time of the last mail, or of the first token.';

grant select (network_digest, recipient_digest, turn, next_attempt_at) on mails to consent_ledger_api;
grant update (turn) on mails to consent_ledger_admin;
grant update (network_digest) on sign_up_requests to consent_ledger_api;
