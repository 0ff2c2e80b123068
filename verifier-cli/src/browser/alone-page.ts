// The page as a file: the verifier alone.
import './jitless.js';
import { startPage } from './page.js';

startPage();
