import { CHECKS, type CheckId } from '../../findings/checks.js';
import type { Texts } from '../texts.js';
import { evidence } from './evidence.js';
import { finding } from './findings.js';
import { list } from './list.js';
import { lookup } from './lookup.js';
import { page } from './page.js';
import { paper } from './paper.js';
import { record } from './record.js';
import { report } from './report.js';
import { words } from './words.js';

const checks = (id: CheckId): string => CHECKS[id].tr;

export const tr: Texts = {
  language: 'tr',
  checks,
  evidence,
  finding,
  list,
  lookup,
  page,
  paper,
  record,
  report,
  words,
};
