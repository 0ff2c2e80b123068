-- Runs beside: 0001-initial
-- Everybody can read a publishable key in the source of a page. People who set up a page can therefore
-- see it again. Keys that exist already are null: only their digest is known.
alter table api_keys add column publishable_key text;
comment on column api_keys.publishable_key is
  'The whole key if it is publishable; null: it is not, or it was made before this column.';
