export { DEVELOPMENT_MARK } from '../../../schemas/rfc3161/development-mark.js';

/**
 * Policy of the development authority's tokens: the OID of the UUID
 * ba6bc041-b0d3-540e-b2eb-81648bbef8ea (ITU-T X.667), an arc that needs no registration. The policy
 * promises nothing.
 */
export const DEVELOPMENT_POLICY = '2.25.247795882407056885490691155332649908458';
