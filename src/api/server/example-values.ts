/**
 * Placeholders of the examples for values that differ in every installation. The test that executes the examples
 * replaces them with values of a seeded installation.
 */
export const EXAMPLE_VALUES = {
  versionId: '019d0b7e-52a5-7a5e-9f2e-6d35a2d1c001',
  approvalVersionId: '019d0b7e-52a5-7a5e-9f2e-6d35a2d1c002',
  approvalToken: 'hat_vVw6hT1Q0m9cX3kS8nJ2bLrE5yZuPq4oGdFaIxWt7RM',
  consentToken: 'ct_019d0b7f90c27c4e8d1f5a6b7c8d9e0f',
  visitorId: 'visitor-4711',
  exportId: '019d0b81-6b21-7f0a-8e4d-2c3b4a5d6e7f',
  erasureId: '019d0b80-0f3a-7b1c-9c3d-0a1b2c3d4e5f',
  webhookId: '019d0b82-1c3d-7e4f-8a5b-6c7d8e9f0a1b',
  deliveryId: '019d0b82-2d4e-7f5a-9b6c-7d8e9f0a1b2c',
  checkpointSize: '7',
  pageUrl: 'https://shop.example/',
  email: 'api@shop.example',
  panelEmail: 'owner@shop.example',
  password: 'correct horse battery staple',
  panelPassword: 'a horse battery, stapled correctly',
  refreshToken: 'clr_Vv6hT1Q0m9cX3kS8nJ2bLrE5yZuPq4oGdFaIxWt7RMk',
  invitationToken: 'cli_hT1Q0m9cX3kS8nJ2bLrE5yZuPq4oGdFaIxWt7RMkVv6',
  passwordResetToken: 'clp_Q0m9cX3kS8nJ2bLrE5yZuPq4oGdFaIxWt7RMkVv6hT1',
} as const;

/** Further values of the example responses. */
export const SHOWN = {
  siteId: '019d0b7e-11aa-7bbb-8ccc-0123456789ab',
  tenantId: '019d0b7e-11aa-7bbb-8ccc-0123456789aa',
  userId: '019d0b7e-11aa-7bbb-8ccc-0123456789ad',
  documentId: '019d0b7e-11aa-7bbb-8ccc-0123456789ac',
  consentId: '019d0b7f-90c2-7c4e-8d1f-5a6b7c8d9e0f',
  proofKeyId: 'proof-1',
  proofHash: '5f2a1c9e7b3d4f608192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8',
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  createdAt: '2026-11-21T10:00:00.123Z',
  validUntil: '2027-11-21T10:00:00.123Z',
  personToken: 'hpt_Q0m9cX3kS8nJ2bLrE5yZuPq4oGdFaIxWt7RMkVv6hT1',
  expiresAt: '2026-11-21T10:10:00.000Z',
  accessToken: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ1c2VyIn0.YW5vdGhlcg',
} as const;

/** An integrity check, as keyed and public verify return it. */
export const SHOWN_CHECK = {
  consent_type: 'cookie',
  decision: 'partial',
  proof_hash: SHOWN.proofHash,
  hash_version: 2,
  hash_valid: true,
  merkle_valid: true,
  is_anonymized: false,
  is_tsa_stamped: true,
  created_at: SHOWN.createdAt,
  imported_from: null,
  claimed_at: null,
};
