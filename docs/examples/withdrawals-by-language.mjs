// A read model of one's own: how many consents were given and withdrawn, by site and language.
// `consent-ledger projections rebuild --file docs/examples/withdrawals-by-language.mjs` fills the view
// read_model.withdrawals_by_language from event zero. See docs/projections.md.
export default {
  name: 'withdrawals_by_language',
  version: 1,
  tables: {
    withdrawals_by_language: {
      columns: {
        site_id: { type: 'uuid', nullable: false },
        language: { type: 'text', nullable: false },
        consents: { type: 'bigint', nullable: false },
        withdrawals: { type: 'bigint', nullable: false },
      },
      primaryKey: ['site_id', 'language'],
      indexes: [],
    },
  },
  on: {
    'ConsentRecorded.v1': ({ record: { site_id, language, decision } }) => {
      const withdrawals = decision === 'withdrawn' ? 1 : 0;
      const by = { consents: 1 - withdrawals, withdrawals };
      return [{ kind: 'add', table: 'withdrawals_by_language', key: { site_id, language }, by }];
    },
  },
  // An erasure changes no count, because the records remain.
  ignores: '*',
};
