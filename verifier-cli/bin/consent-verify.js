#!/usr/bin/env node
import '../dist/consent-verify.js';
