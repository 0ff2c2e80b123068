import { rateLimitSql } from './004-rate-limits.sql.js';

/** What admission runs inside the database. */
export const admissionFunctionsSql = rateLimitSql;
