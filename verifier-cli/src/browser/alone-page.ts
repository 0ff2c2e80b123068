// The page as a file: the verifier alone.
import './jitless.js';
import { textsIn } from '../i18n/texts-in.js';
import { startLanguage } from './language.js';
import { startPage } from './page.js';

startPage(startLanguage(textsIn));
