//! How much memory an upload takes: the server's, and the client's who makes it up as it goes.
//!
//! The only test of its kind runs in a process of its own, as what it measures is the process.

use servers::upload::self_test::run;

#[tokio::test]
async fn an_upload_of_64_mib_takes_no_more_memory_than_a_small_one() {
    run(64 << 20).await.unwrap();
}

#[tokio::test]
#[ignore = "takes seconds"]
async fn an_upload_of_1_gib_takes_no_more_memory_than_a_small_one() {
    run(1 << 30).await.unwrap();
}
