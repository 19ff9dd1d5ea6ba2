//! How much memory an upload takes: the server's, and the client's who makes it up as it goes.
//!
//! The only test of its kind runs in a process of its own, as what it measures is the process.

use servers::upload::self_test::run;

#[tokio::test]
async fn memory_of_a_64_mib_upload_is_that_of_a_small_one() {
    run(64 << 20).await.unwrap();
}

#[tokio::test]
#[ignore = "takes seconds"]
async fn memory_of_a_1_gib_upload_is_that_of_a_small_one() {
    run(1 << 30).await.unwrap();
}
