-- Runs beside: 0001-initial
-- A person token is a row like that of an approval token, which names a person and no document. Row seal, single use,
-- erasure and clean-up are therefore those of approval tokens.
alter table approval_tokens alter column document_id drop not null;
alter table test_approval_tokens alter column document_id drop not null;
comment on table approval_tokens is
  'Statements of a backend about the identity of a person: who is going to approve a document, or has signed in.';
comment on column approval_tokens.id is 'Identifier (atk_..., or ptk_... of a person token); not secret.';
comment on column approval_tokens.document_id is
  'Document that may be approved with it; null: none, because it is a person token.';
comment on column test_approval_tokens.id is 'Identifier (atk_test_..., or ptk_test_... of a person token); not secret.';
comment on column test_approval_tokens.document_id is
  'Document that may be approved with it; null: none, because it is a person token.';
