import { admitGroupSql } from './004-admit-group.sql.js';
import { generationsSql } from './004-generations.sql.js';
import { rateLimitSql } from './004-rate-limits.sql.js';

/** What admission remembers for a while, and what it runs inside the database. */
export const admissionFunctionsSql = [rateLimitSql, generationsSql, admitGroupSql].join('\n');
