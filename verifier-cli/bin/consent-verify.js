#!/usr/bin/env node
// The commands that use the network are a program of their own: the verifier cannot open a socket.
const usesNetwork = ['witness', 'watch'].includes(process.argv[2]);
await import(usesNetwork ? '../dist/consent-verify-network.js' : '../dist/consent-verify.js');
