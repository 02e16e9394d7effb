/** The face `@quorate/client/testing`: members to test clients and commands against, without the real server. */
export { type Manner, TinyEnsemble, TinyMember, type Verdict } from './tiny-ensemble.ts';
export { type TinySession, TinyTree } from './tiny-tree.ts';
