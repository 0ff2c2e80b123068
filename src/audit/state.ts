import type { Position } from '../pipeline/event-log/port.js';
import type { Finding, FoldedFindings } from './finding.js';

/** Sections in the order of an audit. */
export const SECTIONS = [
  'schema',
  'rows',
  'keys',
  'log',
  'ledger',
  'stamps',
  'read-models',
  'catalogue',
  'outbox',
  'erasures',
  'exports',
] as const;
export type SectionName = (typeof SECTIONS)[number];

/** How far an audit came. A later one continues from it. */
export interface AuditState {
  readonly done: readonly SectionName[];
  /** Position up to which the section `log` compared every event; null: none. */
  readonly logPosition: Position | null;
  readonly findings: readonly Finding[];
  readonly folded: readonly FoldedFindings[];
}

export const NOTHING_AUDITED: AuditState = { done: [], logPosition: null, findings: [], folded: [] };
